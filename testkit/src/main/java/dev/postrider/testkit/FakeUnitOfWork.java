package dev.postrider.testkit;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A unit of work without a database, for unit tests of the code that stages messages. It keeps the messages that a commit would
 * write: of those with the same key the first one. It does not know which topics are declared. Not thread-safe.
 */
public final class FakeUnitOfWork implements UnitOfWork {

    private record Key(TopicName topic, @Nullable String tenant, String key) {}

    private final @Nullable Connection connection;
    private final Map<Key, Message> messages = new LinkedHashMap<>();
    private final List<Enqueued> staged = new ArrayList<>();

    /** A unit of work without a connection. */
    public FakeUnitOfWork() {
        this(null);
    }

    /** @param connection for code that also writes rows, such as a connection to an embedded database, or a mock; or null */
    public FakeUnitOfWork(@Nullable Connection connection) {
        this.connection = connection;
    }

    /** @throws IllegalStateException if it was made without one */
    @Override
    public Connection connection() {
        if (connection == null) {
            throw new IllegalStateException("This unit of work has no connection: use new FakeUnitOfWork(connection)");
        }
        return connection;
    }

    @Override
    public void stage(Message message) {
        stage(List.of(message));
    }

    @Override
    public void stage(Collection<Message> batch) {
        staged.addAll(writeAll(batch));
    }

    /** What a commit would answer, at any time: there is none to wait for. */
    @Override
    public List<Enqueued> staged() {
        return List.copyOf(staged);
    }

    @Override
    public Outbox outbox() {
        return new Outbox() {
            @Override
            public Enqueued enqueue(Message message) {
                return writeAll(List.of(message)).get(0);
            }

            @Override
            public List<Enqueued> enqueueAll(Collection<Message> batch) {
                return writeAll(batch);
            }
        };
    }

    private List<Enqueued> writeAll(Collection<Message> batch) {
        List<Message> checked = new ArrayList<>(batch.size());
        for (Message message : batch) {
            if (message == null) {
                throw new InvalidMessageException("message", "is missing at position " + checked.size());
            }
            checked.add(message);
        }
        return checked.stream().map(this::write).toList();
    }

    private Enqueued write(Message message) {
        String key = message.effectiveKey();
        Message first = messages.putIfAbsent(new Key(message.topic(), message.tenant(), key), message);
        return first == null
                ? new Enqueued.Created(message.id(), key)
                : new Enqueued.Duplicate(first.id(), key, first.payload().equals(message.payload()));
    }

    /** The messages that a commit would write, in the order in which they were staged or enqueued. */
    public List<Message> messages() {
        return List.copyOf(messages.values());
    }

    /** Forgets all messages, as a rollback does. */
    public void clear() {
        messages.clear();
        staged.clear();
    }
}
