package dev.postrider.contracts;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.util.EnumMap;
import java.util.Map;
import javax.sql.DataSource;

/** One database with a pool for each engine, for the contracts, whose tests leave each other alone. */
final class ContractDatabases {

    private static final Map<Engine, DataSource> POOLS = new EnumMap<>(Engine.class);

    private static final Map<Engine, DataSource> OTHERS = new EnumMap<>(Engine.class);

    private ContractDatabases() {}

    static synchronized DataSource of(Engine engine) {
        Databases.assumeStarted(engine);
        return POOLS.computeIfAbsent(engine, ContractDatabases::pool);
    }

    /** The same engine, another database. */
    static synchronized DataSource other(Engine engine) {
        return OTHERS.computeIfAbsent(engine, ContractDatabases::unpooled);
    }

    /** A new, empty database without a pool. */
    static DataSource unpooled(Engine engine) {
        return Databases.assumeStarted(engine).createDatabase("contract").dataSource();
    }

    /** A pool on a database of its own. */
    private static DataSource pool(Engine engine) {
        Database database = Databases.assumeStarted(engine).createDatabase("contract");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(20);
        return new HikariDataSource(config);
    }
}
