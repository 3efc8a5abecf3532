package dev.postrider.jdbc.diagnosis;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Statements of a diagnosis over one connection. The server, or the driver, ends a statement that takes too long. */
final class BoundedQueries {

    private static final int SECONDS = 5;

    private final Connection connection;
    private final SqlRunner sql;

    BoundedQueries(Connection connection, SqlRunner sql) {
        this.connection = connection;
        this.sql = sql;
    }

    SqlRunner sql() {
        return sql;
    }

    Connection connection() {
        return connection;
    }

    <T> T query(String statement, SqlRunner.Bind bind, SqlRunner.Read<T> read) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(sql.sqlOnce(statement))) {
            prepared.setQueryTimeout(SECONDS);
            bind.to(sql.bind(prepared));
            try (ResultSet rows = prepared.executeQuery()) {
                return read.from(rows);
            }
        }
    }

    /** Returns the first column of the first row; empty if there is no row, or no value. */
    Optional<String> first(String statement, SqlRunner.Bind bind) throws SQLException {
        return query(statement, bind, row -> row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty());
    }

    /** Returns the first column of every row. */
    List<String> column(String statement, SqlRunner.Bind bind) throws SQLException {
        return query(statement, bind, row -> {
            List<String> values = new ArrayList<>();
            while (row.next()) {
                values.add(String.valueOf(row.getString(1)));
            }
            return values;
        });
    }

    /** Returns the names in the first column, in lower case, each with the flag in the second. */
    Map<String, Boolean> flags(String statement, SqlRunner.Bind bind) throws SQLException {
        return query(statement, bind, row -> {
            Map<String, Boolean> flags = new HashMap<>();
            while (row.next()) {
                flags.put(row.getString(1).toLowerCase(Locale.ROOT), row.getBoolean(2));
            }
            return flags;
        });
    }
}
