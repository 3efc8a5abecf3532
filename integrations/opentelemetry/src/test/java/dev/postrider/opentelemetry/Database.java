package dev.postrider.opentelemetry;

import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;

/** Empty databases in memory. */
final class Database {

    private static final int CONNECTIONS = 50;

    private Database() {}

    static DataSource open() {
        String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
        JdbcConnectionPool pool = JdbcConnectionPool.create(url, "sa", "");
        pool.setMaxConnections(CONNECTIONS);
        return pool;
    }
}
