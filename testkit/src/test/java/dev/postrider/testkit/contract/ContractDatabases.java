package dev.postrider.testkit.contract;

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

    private ContractDatabases() {}

    static synchronized DataSource of(Engine engine) {
        Databases.assumeStarted(engine);
        return POOLS.computeIfAbsent(engine, ContractDatabases::pool);
    }

    /** A pool on a database of its own. */
    static DataSource pool(Engine engine) {
        Database database = Databases.assumeStarted(engine).createDatabase("contract");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(20);
        return new HikariDataSource(config);
    }
}
