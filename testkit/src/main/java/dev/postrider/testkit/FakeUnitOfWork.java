package dev.postrider.testkit;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A unit of work without a database, for unit tests of code that stages messages. It keeps the messages that a commit would write. Of
 * several messages with the same idempotency key it keeps the first. It refuses two different messages with the same id. It does not
 * check whether a topic is declared. Not thread-safe.
 */
public final class FakeUnitOfWork implements UnitOfWork {

    private record Key(TopicName topic, @Nullable String tenant, String key) {}

    private final @Nullable Connection connection;
    private final Map<MessageId, Message> messages = new LinkedHashMap<>();
    private final Map<Key, Message> keys = new HashMap<>();
    private final List<Enqueued> staged = new ArrayList<>();
    private final Map<MessageId, Message> cancelled = new LinkedHashMap<>();

    /** Creates a unit of work without a connection. */
    public FakeUnitOfWork() {
        this(null);
    }

    /** @param connection for code that also writes rows: a connection to an embedded database, or a mock; or null */
    public FakeUnitOfWork(@Nullable Connection connection) {
        this.connection = connection;
    }

    /** @throws IllegalStateException if the unit of work was created without a connection */
    @Override
    public Connection connection() {
        if (connection == null) {
            throw new IllegalStateException("This unit of work has no connection: use new FakeUnitOfWork(connection)");
        }
        return connection;
    }

    @Override
    public void stage(Message message) {
        stage(Collections.singletonList(message));
    }

    @Override
    public void stage(Collection<Message> batch) {
        staged.addAll(writeAll(batch));
    }

    /** The results that a commit would return. They are available at once, because there is no commit. */
    @Override
    public List<Enqueued> staged() {
        return List.copyOf(staged);
    }

    @Override
    public Outbox outbox() {
        return new Outbox() {
            @Override
            public Enqueued enqueue(Message message) {
                return writeAll(Collections.singletonList(message)).get(0);
            }

            @Override
            public List<Enqueued> enqueueAll(Collection<Message> batch) {
                return writeAll(batch);
            }

            @Override
            public Cancellation cancel(MessageId id) {
                Message message = messages.remove(id);
                if (message != null) {
                    cancelled.put(id, message);
                }
                return cancelled.containsKey(id) ? Cancellation.CANCELLED : Cancellation.NOT_FOUND;
            }

            @Override
            public Cancellation cancel(TopicName topic, @Nullable String tenant, String idempotencyKey) {
                Message first = keys.get(new Key(topic, tenant, idempotencyKey));
                return first == null ? Cancellation.NOT_FOUND : cancel(first.id());
            }
        };
    }

    /** The messages that were cancelled. They are not among {@link #messages}, and their idempotency keys stay used. */
    public List<Message> cancelled() {
        return List.copyOf(cancelled.values());
    }

    private List<Enqueued> writeAll(Collection<Message> batch) {
        if (batch == null) {
            throw new InvalidMessageException("messages", "are missing: use an empty list for no messages");
        }
        List<Message> checked = new ArrayList<>(batch.size());
        for (Message message : batch) {
            if (message == null) {
                throw new InvalidMessageException("message", "is missing at position " + checked.size());
            }
            checked.add(message);
        }
        Map<MessageId, Message> messagesBefore = new LinkedHashMap<>(messages);
        Map<Key, Message> keysBefore = new HashMap<>(keys);
        try {
            return checked.stream().map(this::write).toList();
        } catch (InvalidMessageException e) {
            restore(messages, messagesBefore);
            restore(keys, keysBefore);
            throw e;
        }
    }

    private static <K> void restore(Map<K, Message> map, Map<K, Message> before) {
        map.clear();
        map.putAll(before);
    }

    private Enqueued write(Message message) {
        String idempotencyKey = message.idempotencyKey();
        Key key = idempotencyKey == null ? null : new Key(message.topic(), message.tenant(), idempotencyKey);
        Message first = key == null ? null : keys.get(key);
        if (first == null) {
            Message cancelledBefore = cancelled.get(message.id());
            first = cancelledBefore == null ? messages.get(message.id()) : cancelledBefore;
            if (first != null && !isSame(first, message)) {
                throw new InvalidMessageException(
                        "id", message.id() + " is that of another message: give every message an id of its own");
            }
        }
        if (first != null) {
            return new Enqueued.Duplicate(first.id(), message.effectiveKey(), hasSamePayload(first, message));
        }
        messages.put(message.id(), message);
        if (key != null) {
            keys.put(key, message);
        }
        return new Enqueued.Created(message.id(), message.effectiveKey());
    }

    /** Compares two messages with the same id. The later one has no idempotency key, or one that was not used before. */
    private static boolean isSame(Message first, Message message) {
        return first.topic().equals(message.topic())
                && Objects.equals(first.tenant(), message.tenant())
                && first.idempotencyKey() == null
                && message.idempotencyKey() == null
                && hasSamePayload(first, message);
    }

    /** Compares the bytes, and not the content types. */
    private static boolean hasSamePayload(Message first, Message message) {
        return Arrays.equals(first.payload().bytes(), message.payload().bytes());
    }

    /** The messages that a commit would write, in the order in which they were staged or enqueued. */
    public List<Message> messages() {
        return List.copyOf(messages.values());
    }

    /** Removes all messages, as a rollback does. */
    public void clear() {
        messages.clear();
        keys.clear();
        staged.clear();
        cancelled.clear();
    }
}
