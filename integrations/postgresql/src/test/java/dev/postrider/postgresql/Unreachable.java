package dev.postrider.postgresql;

import java.sql.Connection;
import java.sql.SQLException;

/** An address at which no server answers. */
final class Unreachable extends OnlyConnections {

    @Override
    public Connection getConnection() throws SQLException {
        throw new SQLException("connection refused", "08001");
    }
}
