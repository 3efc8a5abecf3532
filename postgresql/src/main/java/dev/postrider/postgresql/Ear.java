package dev.postrider.postgresql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection that listens. For one thread, and for as long as it lasts. */
final class Ear implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Ear.class);

    /** For what is answered at once: a server that is gone must not hold up whoever asks. */
    static final int NETWORK_TIMEOUT_MILLIS = 10_000;

    /** For the farewell of one who closes: a pool wants it, and a server that is gone does not answer. */
    private static final int FAREWELL_TIMEOUT_MILLIS = 1_000;

    private final Connection connection;
    private final PGConnection notified;
    private final int usualTimeoutMillis;

    private Ear(Connection connection) throws SQLException {
        this.connection = connection;
        this.usualTimeoutMillis = connection.getNetworkTimeout();
        this.notified = connection.unwrap(PGConnection.class);
    }

    static Ear on(DataSource dataSource, Channel channel) throws SQLException {
        Connection connection = dataSource.getConnection();
        Ear ear;
        try {
            ear = new Ear(connection);
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
        try (Statement statement = connection.createStatement()) {
            connection.setAutoCommit(
                    true); // a listener within a transaction hears nothing, and fills the server's queue
            connection.setNetworkTimeout(Runnable::run, NETWORK_TIMEOUT_MILLIS);
            statement.execute("LISTEN \"" + channel.name() + "\"");
            return ear;
        } catch (SQLException | RuntimeException e) {
            ear.close();
            throw e;
        }
    }

    /** The notes that came in; waits for the first. */
    List<String> hear(Duration atMost) throws SQLException {
        PGNotification[] notifications = notified.getNotifications((int) Math.max(atMost.toMillis(), 1));
        List<String> notes = new ArrayList<>();
        if (notifications != null) {
            for (PGNotification notification : notifications) {
                notes.add(notification.getParameter());
            }
        }
        return notes;
    }

    /** From any thread: whoever listens fails at once, and then closes. */
    void cut() {
        cut(connection);
    }

    static void cut(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("A connection of the doorbell could not be cut; its statements end with their timeout", e);
        }
    }

    /** A pool must not hand it to somebody else while it listens. */
    @Override
    public void close() {
        try (Connection closing = connection;
                Statement statement = closing.createStatement()) {
            closing.setNetworkTimeout(Runnable::run, FAREWELL_TIMEOUT_MILLIS);
            statement.execute("UNLISTEN *");
            closing.setNetworkTimeout(Runnable::run, usualTimeoutMillis);
        } catch (SQLException e) {
            log.debug("The listening connection was closed without its consent", e);
        }
    }
}
