package dev.postrider.contracts.crash;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.Topic;
import dev.postrider.message.Message;
import dev.postrider.testkit.database.Database;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The business of these tests: an order is a row, and a message with the order's id as its key, in one transaction. */
final class Orders {

    static final String TOPIC = "orders";

    private Orders() {}

    /** As patient as a busy machine needs; what is asked of a database that is down has connections without a pool. */
    static HikariDataSource pool(Database database) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(6);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(15_000);
        config.setInitializationFailTimeout(60_000);
        config.setValidationTimeout(10_000);
        return new HikariDataSource(config);
    }

    /** The arguments by which a child process is told where the database is. */
    static List<String> arguments(Database database) {
        return List.of(database.name(), database.jdbcUrl(), database.user(), database.password());
    }

    /** Takes the first four. */
    static Database database(String[] arguments) {
        return new Database(arguments[0], arguments[1], arguments[2], arguments[3]);
    }

    static PostriderBuilder configured(DataSource dataSource, Consumer<Topic.Builder> topic) {
        return Postrider.on(dataSource).topic(TOPIC, topic);
    }

    /** The order that a message is about. */
    static String of(Message message) {
        return Objects.requireNonNull(message.key());
    }

    /** @param beforeCommit called when the row is written and the message is staged */
    static void place(Postrider postrider, List<String> orders, Runnable beforeCommit) throws SQLException {
        postrider.inTransaction(work -> {
            try (PreparedStatement insert =
                    work.connection().prepareStatement("INSERT INTO purchase (id) VALUES (?)")) {
                for (String order : orders) {
                    insert.setString(1, order);
                    insert.executeUpdate();
                    work.stage(Message.to(TOPIC)
                            .type("order.placed")
                            .key(order)
                            .json("{\"order\":\"" + order + "\"}")
                            .build());
                }
            }
            beforeCommit.run();
        });
    }
}
