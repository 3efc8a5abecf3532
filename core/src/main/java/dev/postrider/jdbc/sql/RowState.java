package dev.postrider.jdbc.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Optional;

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

    /** Returns the state of this name; empty for a name that other software has written. */
    public static Optional<RowState> find(String name) {
        return Arrays.stream(values())
                .filter(state -> state.name().equals(name))
                .findFirst();
    }
}
