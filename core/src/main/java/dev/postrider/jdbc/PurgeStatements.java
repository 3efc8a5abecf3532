package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The statements that remove rows older than an age. A span leaves out rows that reached this age longer ago than the span.
 */
interface PurgeStatements {

    int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    int purgeDead(Connection connection, Duration age, int limit) throws SQLException;

    int purgeKeys(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    static PurgeStatements of(SqlRunner sql) {
        return switch (sql.kind()) {
            case POSTGRESQL -> new PostgresPurges(sql);
            case MYSQL, MARIADB -> new InnoDbPurges(sql);
            case H2 -> new H2Purges(sql);
        };
    }
}
