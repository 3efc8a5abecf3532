package dev.postrider.jdbc.outbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/**
 * The staged messages of one unit of work, which are written just before its commit. A batch is added completely or
 * not at all. Written messages are removed, so a second flush does not write them again. Not thread-safe.
 */
final class Staging {

    private final int limit;
    private List<Message> staged = new ArrayList<>();

    /**
     * Creates an empty staging area.
     *
     * @param limit the largest number of messages that one unit of work may stage
     */
    Staging(int limit) {
        this.limit = limit;
    }

    /**
     * Adds one message.
     *
     * @throws InvalidMessageException when the message is null or the limit is exceeded
     */
    void add(Message message) {
        addAll(Collections.singletonList(message));
    }

    /**
     * Adds all messages, or none of them if it throws.
     *
     * @throws InvalidMessageException when a message is null or the limit is exceeded
     */
    void addAll(Collection<Message> messages) {
        if (messages == null) {
            throw new InvalidMessageException("messages", "are missing: use an empty list for no messages");
        }
        List<Message> batch = new ArrayList<>(messages.size());
        for (Message message : messages) {
            if (message == null) {
                throw new InvalidMessageException("message", "is missing at position " + batch.size());
            }
            batch.add(message);
        }
        if (staged.size() + batch.size() > limit) {
            throw new InvalidMessageException(
                    "unit of work", "would stage more than " + limit + " messages: split it, or raise staged-limit");
        }
        staged.addAll(batch);
    }

    /** Returns the number of staged messages. */
    int size() {
        return staged.size();
    }

    /**
     * Writes the staged messages and removes them. If the outbox throws, all messages stay staged and the transaction
     * must not commit.
     */
    List<Enqueued> flush(Outbox outbox) {
        if (staged.isEmpty()) {
            return List.of();
        }
        List<Enqueued> written = outbox.enqueueAll(staged);
        staged = new ArrayList<>();
        return written;
    }
}
