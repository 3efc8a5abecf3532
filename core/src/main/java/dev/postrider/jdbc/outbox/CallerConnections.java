package dev.postrider.jdbc.outbox;

import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

/** Checks connections of the caller, and translates their failures. Thread-safe. */
public final class CallerConnections {

    private final DatabaseKind kind;
    private final KnownConnections own;

    /** @param ownAddress the address of Postrider's data source, as returned by {@link Urls#address} */
    public CallerConnections(DatabaseKind kind, String ownAddress) {
        this.kind = kind;
        this.own = new KnownConnections(ownAddress);
    }

    public static CallerConnections of(DatabaseKind kind, DatabaseMetaData own) throws SQLException {
        return new CallerConnections(kind, Urls.address(own.getURL()));
    }

    DatabaseKind kind() {
        return kind;
    }

    public void checkUsable(Connection connection) throws SQLException {
        if (connection == null || connection.isClosed()) {
            throw new UnusableConnectionException(Problem.CLOSED);
        }
        if (connection.getAutoCommit()) {
            throw new UnusableConnectionException(Problem.AUTOCOMMIT);
        }
        if (!kind.asksServerIfReadOnly() && connection.isReadOnly()) {
            throw new UnusableConnectionException(Problem.READ_ONLY);
        }
        String foreign = own.foreignAddress(connection);
        if (foreign != null) {
            throw new UnusableConnectionException(
                    Problem.FOREIGN,
                    " (it leads to " + Urls.shown(foreign) + ", the data source to " + Urls.shown(own.ownAddress())
                            + ")",
                    null);
        }
    }

    /**
     * Translates a failure, and after a conflict rolls back the transaction. On MySQL and MariaDB a lock wait timeout rolls back only its
     * statement: a caller that ignores the error and commits would keep the business rows without the message.
     */
    public RuntimeException failed(Connection connection, String doing, SQLException e) {
        RuntimeException translated = SqlErrors.translateInTransaction(doing, e);
        if (SqlErrors.isConflict(e)) {
            Sessions.rollback(connection, translated);
        } else if (kind.asksServerIfReadOnly() && isReadOnly(connection, e)) {
            return new UnusableConnectionException(Problem.READ_ONLY, "", e);
        }
        return translated;
    }

    private static boolean isReadOnly(Connection connection, SQLException reason) {
        try {
            return connection.isReadOnly();
        } catch (SQLException e) {
            reason.addSuppressed(e);
            return false;
        }
    }
}
