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
 * Sends notifications on a connection of its own, each committed by itself. Closing does not wait for a notification that is being
 * sent: its connection is cut, and one that is only just being opened is closed by the sender. Thread-safe.
 */
final class Bellpull {

    private static final Logger log = LoggerFactory.getLogger(Bellpull.class);

    private final DataSource dataSource;
    private final Channel channel;

    /** Held while a notification is sent. Whoever closes never waits for it. */
    private final ReentrantLock sending = new ReentrantLock();

    // Written under the lock above
    private volatile @Nullable Connection kept;
    private volatile boolean closed;

    Bellpull(DataSource dataSource, Channel channel) {
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

    /** A connection that was kept may have been cut since: then once more on a new one. */
    private void sendAtMostTwice(String note) {
        boolean fresh = kept == null;
        try {
            notify(note);
        } catch (SQLException e) {
            hangUp();
            if (fresh || closed) {
                throw new StoreUnavailableException("The other nodes could not be told of a commit", e);
            }
            log.debug("The connection for ringing was lost; taking another", e);
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
            // A pooler in transaction mode may be good enough for ringing, but not for prepared statements that last.
            connection.unwrap(PGConnection.class).setPrepareThreshold(0);
            connection.setNetworkTimeout(Runnable::run, Ear.NETWORK_TIMEOUT_MILLIS);
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
                log.debug("The connection for ringing could not be closed", e);
            }
        }
    }

    /** Waits for nobody. After this nothing is sent, and no connection stays open. */
    void close() {
        closed = true;
        Connection inUse = kept;
        if (!closeIfOver() && inUse != null) {
            Ear.cut(inUse);
        }
    }

    /** Either the closer gets the lock, or the sender who has it sees, after it gave it back, that all is over. */
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
