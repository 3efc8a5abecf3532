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

/** A connection that listens on the channel, for one thread, until it fails or is closed. */
final class NotificationListener implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(NotificationListener.class);

    /** The network timeout of statements that the server answers at once: a lost server must not block the caller. */
    static final int NETWORK_TIMEOUT_MILLIS = 10_000;

    /** The network timeout of UNLISTEN at close: a pool needs the UNLISTEN, and a lost server does not respond. */
    private static final int FAREWELL_TIMEOUT_MILLIS = 1_000;

    private final Connection connection;
    private final PGConnection notified;
    private final int usualTimeoutMillis;

    private NotificationListener(Connection connection) throws SQLException {
        this.connection = connection;
        this.usualTimeoutMillis = connection.getNetworkTimeout();
        this.notified = connection.unwrap(PGConnection.class);
    }

    static NotificationListener on(DataSource dataSource, Channel channel) throws SQLException {
        Connection connection = dataSource.getConnection();
        NotificationListener ear;
        try {
            ear = new NotificationListener(connection);
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
        try (Statement statement = connection.createStatement()) {
            connection.setAutoCommit(true); // in a transaction no notification arrives, and the server's queue fills
            connection.setNetworkTimeout(Runnable::run, NETWORK_TIMEOUT_MILLIS);
            statement.execute("LISTEN \"" + channel.name() + "\"");
            return ear;
        } catch (SQLException | RuntimeException e) {
            ear.close();
            throw e;
        }
    }

    /** Waits for the first notification, and returns the payloads of all that have arrived. */
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

    /** Aborts the connection, from any thread. A listening thread fails at once and then closes. */
    void cut() {
        cut(connection);
    }

    static void cut(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("A connection of the doorbell could not be aborted; its statements end with their timeout", e);
        }
    }

    /** Ends listening and closes the connection. A pool must not pass on a connection that still listens. */
    @Override
    public void close() {
        try (Connection closing = connection;
                Statement statement = closing.createStatement()) {
            closing.setNetworkTimeout(Runnable::run, FAREWELL_TIMEOUT_MILLIS);
            statement.execute("UNLISTEN *");
            closing.setNetworkTimeout(Runnable::run, usualTimeoutMillis);
        } catch (SQLException e) {
            log.debug("UNLISTEN failed before the listening connection was closed", e);
        }
    }
}
