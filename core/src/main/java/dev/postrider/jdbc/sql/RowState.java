package dev.postrider.jdbc.sql;

import java.sql.ResultSet;
import java.sql.SQLException;

/** The states of a row in the message table. A delivered message has no row there. */
public enum RowState {
    PENDING,
    SCHEDULED,
    PROCESSING,
    RETRY,
    BLOCKED,
    PARKED,
    DEAD;

    public static RowState read(ResultSet row) throws SQLException {
        return valueOf(row.getString("state"));
    }
}
