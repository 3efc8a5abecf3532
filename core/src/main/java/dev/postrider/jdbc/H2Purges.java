package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Purges on H2, whose DELETE has no order. */
final class H2Purges extends InnoDbPurges {

    private static final String PURGE_ARCHIVE =
            "DELETE FROM {archive} WHERE delivered_at < {ago} AND delivered_at >= {ago} FETCH FIRST ? ROWS ONLY";

    H2Purges(SqlRunner sql) {
        super(sql);
    }

    @Override
    public int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        return purgeArchive(connection, PURGE_ARCHIVE, age, span, limit);
    }
}
