package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.SqlRunner;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/** A row and the token of its lease. Only both together identify a claim of the row. */
record LeasedRow(long seq, UUID token) {

    static SqlRunner.Read<Set<LeasedRow>> reader(SqlRunner sql) {
        return rows -> {
            Set<LeasedRow> held = new HashSet<>();
            while (rows.next()) {
                held.add(new LeasedRow(rows.getLong("seq"), sql.readUuid(rows, "lease_token")));
            }
            return held;
        };
    }
}
