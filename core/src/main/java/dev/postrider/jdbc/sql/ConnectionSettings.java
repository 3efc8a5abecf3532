package dev.postrider.jdbc.sql;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * How a data source returns its connections.
 *
 * @param autoCommit whether in autocommit mode; a connection without it is in a transaction of other code then
 * @param setIsolation whether with another isolation level than READ COMMITTED; then the level is set each time, which costs a round trip
 */
public record ConnectionSettings(boolean autoCommit, boolean setIsolation, IdleLimit idleLimit) {

    public static ConnectionSettings of(Connection connection, DatabaseKind kind) throws SQLException {
        boolean setIsolation = connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED;
        return new ConnectionSettings(connection.getAutoCommit(), setIsolation, IdleLimit.of(kind, connection));
    }
}
