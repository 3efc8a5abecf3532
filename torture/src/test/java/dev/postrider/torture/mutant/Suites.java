package dev.postrider.torture.mutant;

import dev.postrider.testkit.contract.ClaimingContract;
import dev.postrider.testkit.contract.CommandContract;
import dev.postrider.testkit.contract.DispatchingContract;
import dev.postrider.testkit.contract.HeldKeyContract;
import dev.postrider.testkit.contract.InboxContract;
import dev.postrider.testkit.contract.LaneContract;
import dev.postrider.testkit.contract.OrderingContract;
import dev.postrider.testkit.contract.WritingContract;
import dev.postrider.testkit.database.Database;
import java.util.Objects;
import javax.sql.DataSource;

/** The suites that mutants are tried with, on the database that the process was given. */
final class Suites {

    static final String URL = "mutant.url";
    static final String USER = "mutant.user";
    static final String PASSWORD = "mutant.password";

    private Suites() {}

    private static DataSource database() {
        return new Database("mutant", property(URL), property(USER), property(PASSWORD)).dataSource();
    }

    private static String property(String name) {
        return Objects.requireNonNull(System.getProperty(name), name);
    }

    static final class Claiming extends ClaimingContract {
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

    static final class HeldKey extends HeldKeyContract {
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
