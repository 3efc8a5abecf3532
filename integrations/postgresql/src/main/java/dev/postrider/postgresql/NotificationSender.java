package dev.postrider.postgresql;

import dev.postrider.error.StoreUnavailableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends notifications on its own connection, each in its own transaction. A close does not wait for a notification that
 * is being sent: it aborts the connection, and the sender closes a connection that is just being opened. Thread-safe.
 */
final class NotificationSender {

    private static final Logger log = LoggerFactory.getLogger(NotificationSender.class);

    private final DataSource dataSource;
    private final Channel channel;

    /** Locked while a notification is sent. {@link #close} never waits for it. */
    private final ReentrantLock sending = new ReentrantLock();

    // Written under the lock above
    private volatile @Nullable Connection kept;
    private volatile boolean closed;

    NotificationSender(DataSource dataSource, Channel channel) {
        this.dataSource = dataSource;
        this.channel = channel;
    }

    void send(String note) {
        sending.lock();
        try {
            sendAtMostTwice(note);
        } finally {
            sending.unlock();
            closeIfOver();
        }
    }

    /** Sends the notification, and once more on a new connection if the kept connection was cut since its last use. */
    private void sendAtMostTwice(String note) {
        boolean fresh = kept == null;
        try {
            notify(note);
        } catch (SQLException e) {
            hangUp();
            if (fresh || closed) {
                throw new StoreUnavailableException("The other nodes could not be notified of a commit", e);
            }
            log.debug("The connection for notifications was lost; opening another", e);
            sendAtMostTwice(note);
        }
    }

    private void notify(String note) throws SQLException {
        Connection connection = kept;
        if (connection == null) {
            connection = dataSource.getConnection();
            kept = connection;
            if (closed) {
                throw new SQLException("The doorbell was closed");
            }
            connection.setAutoCommit(true);
            // A pooler in transaction mode may be sufficient for NOTIFY, but not for server-side prepared statements.
            connection.unwrap(PGConnection.class).setPrepareThreshold(0);
            connection.setNetworkTimeout(Runnable::run, NotificationListener.NETWORK_TIMEOUT_MILLIS);
        }
        try (PreparedStatement statement = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
            statement.setString(1, channel.name());
            statement.setString(2, note);
            statement.execute();
        }
    }

    private void hangUp() {
        Connection connection = kept;
        kept = null;
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                log.debug("The connection for notifications could not be closed", e);
            }
        }
    }

    /** Does not wait. Afterwards no notification is sent, and no connection stays open. */
    void close() {
        closed = true;
        Connection inUse = kept;
        if (!closeIfOver() && inUse != null) {
            NotificationListener.cut(inUse);
        }
    }

    /**
     * Closes the connection if this object is closed and the lock is free. Either the closer gets the lock, or the
     * sender that has it sees after the unlock that this object is closed.
     */
    private boolean closeIfOver() {
        if (!closed || !sending.tryLock()) {
            return false;
        }
        try {
            hangUp();
            return true;
        } finally {
            sending.unlock();
        }
    }
}
