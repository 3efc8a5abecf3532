package dev.postrider.outbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The messages of one unit of work that wait for its commit. A batch is taken whole or not at all, and writing twice writes
 * once: what was flushed is forgotten. Not thread-safe.
 */
public final class Staging {

    private final int limit;
    private List<Message> staged = new ArrayList<>();

    /** @param limit how many messages one unit of work may stage */
    public Staging(int limit) {
        this.limit = limit;
    }

    public void add(Message message) {
        addAll(List.of(message));
    }

    /** Takes all of them; a failure in the middle of the collection leaves none of them staged. */
    public void addAll(Collection<Message> messages) {
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

    public int size() {
        return staged.size();
    }

    /** Writes what is staged and forgets it. If the outbox throws, everything stays staged and the transaction must not commit. */
    public List<Enqueued> flush(Outbox outbox) {
        if (staged.isEmpty()) {
            return List.of();
        }
        List<Enqueued> written = outbox.enqueueAll(staged);
        staged = new ArrayList<>();
        return written;
    }
}
