package dev.postrider.postgresql;

import dev.postrider.error.StoreUnavailableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends notifications on a connection of its own, each committed by itself. Thread-safe. */
final class Bellpull {

    private static final Logger log = LoggerFactory.getLogger(Bellpull.class);

    private final DataSource dataSource;
    private final Channel channel;
    private @Nullable Connection kept;

    Bellpull(DataSource dataSource, Channel channel) {
        this.dataSource = dataSource;
        this.channel = channel;
    }

    /** A connection that was kept may have been cut since: then once more on a new one. */
    synchronized void send(String note) {
        boolean fresh = kept == null;
        try {
            notify(note);
        } catch (SQLException e) {
            close();
            if (fresh) {
                throw new StoreUnavailableException("The other nodes could not be told of a commit", e);
            }
            log.debug("The connection for ringing was lost; taking another", e);
            send(note);
        }
    }

    private void notify(String note) throws SQLException {
        Connection connection = kept;
        if (connection == null) {
            connection = dataSource.getConnection();
            kept = connection;
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

    synchronized void close() {
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
}
