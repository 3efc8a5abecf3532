package dev.postrider.torture.mutant;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.contracts.BlockedKeyContract;
import dev.postrider.contracts.CancelContract;
import dev.postrider.contracts.ClaimingContract;
import dev.postrider.contracts.CommandContract;
import dev.postrider.contracts.CommandModeContract;
import dev.postrider.contracts.CommandTroubleContract;
import dev.postrider.contracts.DispatchingContract;
import dev.postrider.contracts.HandlingContract;
import dev.postrider.contracts.InboxContract;
import dev.postrider.contracts.LaneContract;
import dev.postrider.contracts.LockOrderContract;
import dev.postrider.contracts.OrderingContract;
import dev.postrider.contracts.WritingContract;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The suites that mutants are tried with, on a database of the engine that the mutant names. */
final class Suites {

    private static Engine engine = Engine.POSTGRESQL_18;
    private static @Nullable HikariDataSource database;

    private Suites() {}

    /** What follows is to be run on a new database of this engine. */
    static synchronized void use(Engine chosen) {
        engine = chosen;
        database = null;
    }

    /** Closes the connections of the last run. */
    static synchronized void end() {
        if (database != null) {
            database.close();
        }
    }

    private static synchronized DataSource database() {
        HikariDataSource pool = database;
        if (pool == null) {
            pool = pool(Databases.assumeStarted(engine).createDatabase("mutant"));
            database = pool;
        }
        return pool;
    }

    /** As the contracts have them. */
    private static HikariDataSource pool(Database database) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(20);
        config.setMinimumIdle(1);
        return new HikariDataSource(config);
    }

    static final class Claiming extends ClaimingContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class Cancel extends CancelContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class Lane extends LaneContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class BlockedKey extends BlockedKeyContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class LockOrder extends LockOrderContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class Ordering extends OrderingContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class Handling extends HandlingContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class Dispatching extends DispatchingContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class Command extends CommandContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class CommandMode extends CommandModeContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class CommandTrouble extends CommandTroubleContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }
    }

    static final class Writing extends WritingContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }

        @Override
        protected DataSource foreignDataSource() {
            throw new UnsupportedOperationException("no mutant needs it");
        }
    }

    static final class Inbox extends InboxContract {
        @Override
        protected DataSource dataSource() {
            return database();
        }

        @Override
        protected DataSource foreignDataSource() {
            throw new UnsupportedOperationException("no mutant needs it");
        }
    }
}
