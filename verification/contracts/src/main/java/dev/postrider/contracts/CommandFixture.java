package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.event.Event;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * The common parts of the command contracts. Each test has its own operation. The effect of a command is a row in a table of the
 * tests. Tests change leases and times in the rows, so no test waits for them.
 */
abstract class CommandFixture extends DatabaseContract {

    /** The time limit of every wait in a test, in seconds. */
    static final long PATIENCE = 60;

    /** The operation of this test. */
    protected final String operation = "op-" + UUID.randomUUID().toString().substring(0, 8);

    private final List<Event> events = new CopyOnWriteArrayList<>();
    final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Future<?>> stuck = new CopyOnWriteArrayList<>();
    Commands commands;
    Postrider postrider;

    @BeforeEach
    void open() throws SQLException {
        postrider = node(builder -> builder);
        commands = postrider.commands();
        execute("CREATE TABLE IF NOT EXISTS effect (operation VARCHAR(50) NOT NULL, detail VARCHAR(100) NOT NULL)");
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    /** Opens another node. The database cannot distinguish it from another process. */
    protected final Postrider node(UnaryOperator<PostriderBuilder> configuration) {
        return postrider(builder -> configuration.apply(
                builder.topic(topic).listener(events::add).commands(options -> options.cacheBytes(0))));
    }

    protected final Command<String> command(String key) {
        return builder(key).returningText();
    }

    protected final Command.Builder builder(String key) {
        return Command.named(operation).caller("ada").key(key).fingerprint("{\"amount\":1}");
    }

    /** The effect of a command in these tests: inserts one row. */
    protected final String effect(CommandTransaction transaction, String detail) throws SQLException {
        insertEffect(transaction.connection(), detail);
        return "done " + detail;
    }

    final void insertEffect(Connection connection, String detail) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO effect (operation, detail) VALUES (?, ?)")) {
            insert.setString(1, operation);
            insert.setString(2, detail);
            insert.executeUpdate();
        }
    }

    protected final List<String> effects() throws SQLException {
        return list("SELECT detail FROM effect WHERE operation = '" + operation + "' ORDER BY detail");
    }

    protected final String row(String column) throws SQLException {
        return query("SELECT " + column + " FROM postrider_command WHERE operation = '" + operation + "'");
    }

    /** Makes the leases of this test's commands expire. */
    protected final void expireLease() throws SQLException {
        moveBack("lease_until");
    }

    final void moveBack(String column) throws SQLException {
        execute("UPDATE postrider_command SET " + column + " = created_at WHERE operation = '" + operation + "'");
    }

    protected final void claimed(String key) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        stuck.add(threads.submit(() -> commands.run(command(key), tx -> {
            inside.countDown();
            new CountDownLatch(1).await();
            return "never";
        })));
        assertThat(inside.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
    }

    protected final List<Event> events(Class<? extends Event> kind) {
        return events.stream().filter(kind::isInstance).toList();
    }
}
