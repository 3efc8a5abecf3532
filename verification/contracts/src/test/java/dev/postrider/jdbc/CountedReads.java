package dev.postrider.jdbc;

import dev.postrider.testkit.database.Engine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Counts the rows that a server reads for the work on one connection. MySQL and MariaDB count the rows of their internal tables too.
 *
 * @param dataSource lends the connection again and again
 */
record CountedReads(DataSource dataSource, Connection connection, boolean postgres) {

    static CountedReads of(DataSource dataSource, Engine engine) throws SQLException {
        Connection connection = dataSource.getConnection();
        boolean postgres = engine == Engine.POSTGRESQL_15 || engine == Engine.POSTGRESQL_18;
        return new CountedReads(one(connection), connection, postgres);
    }

    long read(Runnable work) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (!postgres) {
                statement.execute("FLUSH STATUS");
                work.run();
                return sum(statement, "SHOW SESSION STATUS LIKE 'Handler_read%'", 2);
            }
            long before = counted(statement);
            work.run();
            return counted(statement) - before;
        }
    }

    /** What this session has read, before it is added to the totals of the table. */
    private static long counted(Statement statement) throws SQLException {
        statement.execute("SELECT pg_stat_force_next_flush()");
        statement.execute("SELECT pg_stat_clear_snapshot()");
        return sum(
                statement,
                "SELECT SUM(seq_tup_read) + (SELECT SUM(idx_tup_read) FROM pg_stat_user_indexes) FROM pg_stat_user_tables",
                1);
    }

    private static long sum(Statement statement, String query, int column) throws SQLException {
        long sum = 0;
        try (ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                sum += row.getLong(column);
            }
        }
        return sum;
    }

    private static DataSource one(Connection connection) {
        ClassLoader loader = CountedReads.class.getClassLoader();
        Connection lent = (Connection) Proxy.newProxyInstance(
                loader, new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("close") ? null : method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
        return (DataSource)
                Proxy.newProxyInstance(loader, new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> lent);
    }
}
