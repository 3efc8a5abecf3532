package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.Message;
import dev.postrider.store.Accepted;
import dev.postrider.store.InboxStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/** Marks on the caller's connection. */
final class JdbcInboxStore implements InboxStore {

    private static final Pattern CONSUMER = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

    private final InboxStatements statements;
    private final JdbcOutbox outboxes;
    private final EventListener events;

    JdbcInboxStore(Dialect dialect, JdbcOutbox outboxes, EventListener events) {
        this.statements = dialect.inbox();
        this.outboxes = outboxes;
        this.events = events;
    }

    static String checkedConsumer(String consumer) {
        if (consumer == null || !CONSUMER.matcher(consumer).matches()) {
            throw new InvalidConfigurationException(
                    "consumer",
                    "must be 1 to 100 letters, digits, dots, dashes or underscores, beginning with a letter or digit,"
                            + " and the same for ever: it says who has had a message");
        }
        return consumer;
    }

    @Override
    public Accepted accept(Connection connection, String consumer, List<Message> received) {
        Accepted accepted = mark(connection, checkedConsumer(consumer), received);
        report(consumer, accepted);
        return accepted;
    }

    /** The same in silence: for whoever may have to do it again before it counts. */
    Accepted mark(Connection connection, String consumer, List<Message> received) {
        List<Message> batch = checked(received);
        Reception reception = new Reception(statements, connection, consumer);
        try {
            outboxes.checkUsable(connection);
            return reception.accept(batch);
        } catch (SQLException e) {
            RuntimeException failure = outboxes.failed(connection, "mark the message as received", e);
            undo(reception, connection, failure);
            throw failure;
        } catch (RuntimeException | Error e) {
            undo(reception, connection, e);
            throw e;
        }
    }

    /** A mark without its message being handled would swallow it, if the caller went on and committed. */
    private static void undo(Reception reception, Connection connection, Throwable failure) {
        if (reception.hasWritten()) {
            Sessions.rollback(connection, failure);
        }
    }

    void checkUsable(Connection connection) {
        try {
            outboxes.checkUsable(connection);
        } catch (SQLException e) {
            throw outboxes.failed(connection, "look at the connection", e);
        }
    }

    Savepoint savepoint(Connection connection) {
        try {
            return connection.setSavepoint();
        } catch (SQLException e) {
            throw outboxes.failed(connection, "set a savepoint", e);
        }
    }

    /** @throws TransactionConflictException when the transaction that the savepoint was set in is no more */
    void release(Connection connection, Savepoint savepoint) {
        try {
            OwnTransaction.requireWhole(connection, savepoint);
        } catch (SQLException e) {
            throw outboxes.failed(connection, "release a savepoint", e);
        }
    }

    static List<Message> checked(Collection<Message> received) {
        List<Message> batch = new ArrayList<>(received.size());
        for (Message message : received) {
            if (message == null) {
                throw new InvalidMessageException("message", "is missing at position " + batch.size());
            }
            batch.add(withOwnId(message));
        }
        return batch;
    }

    /** A message with an id that was only just made would never be a duplicate. */
    static Message withOwnId(Message received) {
        if (received.id().isDefault()) {
            throw new InvalidMessageException(
                    "id",
                    "is missing: a received message is told from others by the id that its sender gave it."
                            + " Build it with Message.received(topic, id)");
        }
        return received;
    }

    void report(String consumer, Accepted accepted) {
        accepted.duplicates().forEach(known -> events.on(new Event.DuplicateReceived(consumer, known.message())));
        accepted.collisions().forEach(known -> events.on(new Event.Collided(consumer, known.message())));
        accepted.tooOld().forEach(message -> events.on(new Event.TooOldReceived(consumer, message)));
    }
}
