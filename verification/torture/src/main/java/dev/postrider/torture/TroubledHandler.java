package dev.postrider.torture;

import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Books a message, and misbehaves according to its type: takes longer than a lease, hangs in a statement for longer than the timeout,
 * waits for a row that another session has locked, or fails. The row of the message is locked during that time. Thread-safe.
 */
final class TroubledHandler implements MessageHandler {

    private final String topic;
    private final Engine engine;
    private final Pace pace;
    private final Journal journal;

    TroubledHandler(String topic, Engine engine, Pace pace, Journal journal) {
        this.topic = topic;
        this.engine = engine;
        this.pace = pace;
        this.journal = journal;
    }

    /** The handler timeout. */
    static Duration timeout(Pace pace) {
        return pace.lease().multipliedBy(2);
    }

    @Override
    public void handle(Message message, UnitOfWork work) throws SQLException, InterruptedException {
        journal.write(
                "sending",
                "id",
                message.id(),
                "key",
                message.key(),
                "number",
                message.headers().get(Business.NUMBER_HEADER),
                "attempt",
                null,
                "token",
                null);
        Connection connection = work.connection();
        switch (message.type()) {
            case Business.SLOW -> TimeUnit.MILLISECONDS.sleep(pace.lease().toMillis() * 13 / 10);
            case Business.STUCK -> hang(connection);
            case Business.LOCKED -> contest(connection);
            case Business.FAILING -> throw new IllegalStateException("cannot be handled");
            default -> {}
        }
        Effects.book(connection, topic, message);
    }

    private void hang(Connection connection) throws SQLException {
        long seconds = timeout(pace).toSeconds() * 3;
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "SELECT " + (engine == Engine.POSTGRESQL_18 ? "pg_sleep" : "SLEEP") + "(" + seconds + ")");
        }
    }

    private static void contest(Connection connection) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE torture_counter SET n = n + 1 WHERE name = ?")) {
            update.setString(1, Business.CONTESTED);
            update.executeUpdate();
        }
    }
}
