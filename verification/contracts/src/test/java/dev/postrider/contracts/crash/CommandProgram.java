package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.message.Message;
import dev.postrider.testkit.StatementHooks;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Runs commands one after another, each until it dies: commanded with a mode, a key, the number of a statement, and whether to die
 * before or after it. It dies as with {@code kill -9}, without another instruction; one that outlives its command says so.
 */
final class CommandProgram {

    static final Duration LEASE = Duration.ofSeconds(30);

    private CommandProgram() {}

    public static void main(String[] arguments) throws IOException {
        StatementHooks hooks = new StatementHooks(Orders.pool(Orders.database(arguments)));
        Postrider postrider = Orders.configured(hooks, topic -> {}).build();
        postrider.register();
        Parent.tell("ready");
        Parent.obey(line -> {
            String[] words = line.split(" ", -1);
            hooks.at(Integer.parseInt(words[2]), words[3].equals("before"), () -> {
                Parent.tell("dies", line);
                Runtime.getRuntime().halt(9);
            });
            try {
                Parent.tell("result", run(postrider, hooks, words[0], words[1]));
            } catch (Exception e) {
                Parent.tell("failed", e);
            }
            hooks.disarm();
            Parent.tell("survived", line);
        });
    }

    static Command<String> command(String key) {
        return Command.named("purchase.place")
                .caller("ada")
                .key(key)
                .fingerprint(key)
                .with(options -> options.lease(LEASE))
                .returningText();
    }

    static String run(Postrider postrider, DataSource dataSource, String mode, String key) throws Exception {
        return switch (mode) {
            case "FENCED" -> String.valueOf(postrider.commands().run(command(key), tx -> place(tx, key)));
            case "JOIN" -> join(postrider, dataSource, key);
            default ->
                String.valueOf(postrider.commands().lease(command(key), lease -> {
                    lease.externalEffectStarted();
                    place(dataSource, key);
                    return key;
                }));
        };
    }

    private static String join(Postrider postrider, DataSource dataSource, String key) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            String result = String.valueOf(postrider.commands().join(connection, command(key), tx -> place(tx, key)));
            connection.commit();
            return result;
        }
    }

    private static String place(CommandTransaction tx, String order) throws SQLException {
        insert(tx.connection(), order);
        tx.stage(Message.to(Orders.TOPIC)
                .type("order.placed")
                .key(order)
                .json("{}")
                .build());
        return order;
    }

    /** Elsewhere: as far as the command can tell, this is another system. */
    private static void place(DataSource dataSource, String order) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            insert(connection, order);
        }
    }

    private static void insert(Connection connection, String order) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO placed (id) VALUES (?)")) {
            insert.setString(1, order);
            insert.executeUpdate();
        }
    }
}
