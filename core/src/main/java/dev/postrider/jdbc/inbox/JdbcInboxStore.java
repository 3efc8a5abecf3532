package dev.postrider.jdbc.inbox;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.inbox.Accepted;
import dev.postrider.internal.store.InboxStore;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.outbox.CallerConnections;
import dev.postrider.jdbc.outbox.JdbcUnitOfWork;
import dev.postrider.jdbc.outbox.PayloadHash;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/** Writes marks of received messages on the caller's connection. Thread-safe. */
public final class JdbcInboxStore implements InboxStore {

    private static final Pattern CONSUMER = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

    private final InboxStatements statements;
    private final CallerConnections connections;
    private final StorageOptions options;
    private final EventListener events;

    /** @param options the ciphers of consumers, which make the hashes of their marks */
    public JdbcInboxStore(
            InboxStatements statements, CallerConnections connections, StorageOptions options, EventListener events) {
        this.statements = statements;
        this.connections = connections;
        this.options = options;
        this.events = events;
    }

    static String checkedConsumer(String consumer) {
        if (consumer == null || !CONSUMER.matcher(consumer).matches()) {
            throw new InvalidConfigurationException(
                    "consumer",
                    "must be 1 to 100 letters, digits, dots, dashes or underscores, beginning with a letter or digit,"
                            + " and must never change: marks of received messages are stored under it");
        }
        return consumer;
    }

    @Override
    public Accepted accept(Connection connection, String consumer, List<Message> received) {
        Accepted accepted = mark(connection, checkedConsumer(consumer), received);
        report(consumer, accepted);
        return accepted;
    }

    /** As {@link #accept}, but reports no events: for a caller that may repeat the transaction before it commits. */
    Accepted mark(Connection connection, String consumer, List<Message> received) {
        List<Message> batch = checked(received);
        InboxIntake intake = new InboxIntake(statements, connection, consumer, message -> hash(consumer, message));
        try {
            connections.checkUsable(connection);
            return intake.accept(batch);
        } catch (SQLException e) {
            RuntimeException failure = connections.failed(connection, "mark the message as received", e);
            undo(intake, connection, failure);
            throw failure;
        } catch (RuntimeException | Error e) {
            undo(intake, connection, e);
            throw e;
        }
    }

    /** Returns the hash of the payload for the mark of this consumer. */
    PayloadHash hash(String consumer, Message message) {
        return PayloadHash.ofReceived(message, consumer, options.cipherOfConsumer(consumer));
    }

    /** Rolls back the transaction if marks were written: a caller that commits a mark without handling its message loses the message. */
    private static void undo(InboxIntake intake, Connection connection, Throwable failure) {
        if (intake.hasWritten()) {
            Sessions.rollback(connection, failure);
        }
    }

    void checkUsable(Connection connection) {
        try {
            connections.checkUsable(connection);
        } catch (SQLException e) {
            throw connections.failed(connection, "check the connection", e);
        }
    }

    Savepoint savepoint(Connection connection) {
        try {
            return connection.setSavepoint();
        } catch (SQLException e) {
            throw connections.failed(connection, "set a savepoint", e);
        }
    }

    /** @throws PostriderException when the transaction of the savepoint no longer exists, with the reason */
    void release(Connection connection, Savepoint savepoint, JdbcUnitOfWork unit) {
        try {
            connection.releaseSavepoint(savepoint);
        } catch (SQLException e) {
            if (SqlErrors.isMissingSavepoint(e)) {
                throw unit.lost(e);
            }
            throw connections.failed(connection, "release a savepoint", e);
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

    /** Refuses a message with a generated id: it would never be a duplicate. */
    static Message withOwnId(Message received) {
        if (received.id().isDefault()) {
            throw new InvalidMessageException(
                    "id",
                    "is missing: the id that the sender gave identifies a received message."
                            + " Build it with Message.received(topic, id)");
        }
        return received;
    }

    void reportUnhandled(String consumer, List<Message> unhandled) {
        unhandled.forEach(message -> events.on(new Event.Unhandled(consumer, message)));
    }

    void report(String consumer, Accepted accepted) {
        accepted.duplicates().forEach(known -> events.on(new Event.DuplicateReceived(consumer, known.message())));
        accepted.collisions().forEach(known -> events.on(new Event.Collided(consumer, known.message())));
        accepted.tooOld().forEach(message -> events.on(new Event.TooOldReceived(consumer, message)));
    }
}
