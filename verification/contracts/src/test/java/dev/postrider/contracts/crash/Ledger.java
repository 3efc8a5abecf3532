package dev.postrider.contracts.crash;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.Topic;
import dev.postrider.message.Message;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.testkit.database.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * The business of the tests of order: accounts, each with a counter that a transaction raises under its lock, and a message about
 * each number, so that the order in which an account's messages were written is beyond doubt.
 */
final class Ledger {

    static final String TOPIC = "ledger";
    static final int LANES = 8;

    /** Why a transaction is rolled back. */
    static final class SecondThoughts extends RuntimeException {

        private static final long serialVersionUID = 1;

        SecondThoughts() {
            super("the customer thought better of it");
        }
    }

    private Ledger() {}

    static void create(Site site, int accounts) {
        site.execute("CREATE TABLE account (id INT PRIMARY KEY, n INT NOT NULL)");
        for (int id = 0; id < accounts; id++) {
            site.execute("INSERT INTO account (id, n) VALUES (" + id + ", 0)");
        }
        configured(site.database().dataSource(), topic -> {}).build().migrate();
    }

    static PostriderBuilder configured(DataSource dataSource, Consumer<Topic.Builder> declaration) {
        return Postrider.on(dataSource)
                .topic(
                        TOPIC,
                        topic -> declaration.accept(topic.ordered()
                                .lanes(LANES)
                                .maxAttempts(1000)
                                .retry(RetryPolicy.constant(Duration.ofMillis(20)))));
    }

    static HikariDataSource pool(Database database) {
        return Orders.pool(database);
    }

    /** Raises the accounts and stages a message about each. They are locked in one order, lest two transactions deadlock. */
    static void post(Postrider postrider, Collection<Integer> accounts, boolean rollBack) throws SQLException {
        postrider.inTransaction(work -> {
            for (int account : new TreeSet<>(accounts)) {
                int number = raise(work.connection(), account);
                work.stage(Message.to(TOPIC)
                        .type("posted")
                        .key("account-" + account)
                        .text(Integer.toString(number))
                        .build());
            }
            if (rollBack) {
                throw new SecondThoughts();
            }
        });
    }

    private static int raise(Connection connection, int account) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE account SET n = n + 1 WHERE id = ?");
                PreparedStatement select = connection.prepareStatement("SELECT n FROM account WHERE id = ?")) {
            update.setInt(1, account);
            update.executeUpdate();
            select.setInt(1, account);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    static String account(Message message) {
        return Objects.requireNonNull(message.key());
    }

    static int number(Message message) {
        return Integer.parseInt(message.payload().asText());
    }
}
