package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Crowds that come with one key. */
final class CommandStormTest {

    private static final int CALLERS = 500;
    private static final long PATIENCE = 120;

    @ParameterizedTest
    @EnumSource(value = Engine.class, mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void fiveHundredCallersOfOneKeyHaveOneEffectOnAPoolOfTen(Engine engine) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
        try (HikariDataSource pool = pool(Databases.assumeStarted(engine).createDatabase("storm"));
                Postrider postrider = Postrider.on(pool).build()) {
            postrider.migrate();
            execute(pool, "CREATE TABLE effect (detail VARCHAR(20) NOT NULL)");
            CyclicBarrier together = new CyclicBarrier(CALLERS);
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            AtomicInteger answered = new AtomicInteger();
            List<Future<CommandResult<String>>> results = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                Command<String> command = command(i % 2 == 0 ? Duration.ZERO : Duration.ofSeconds(PATIENCE));
                results.add(threads.submit(() -> {
                    together.await(PATIENCE, TimeUnit.SECONDS);
                    CommandResult<String> result = postrider.commands().run(command, tx -> {
                        running.countDown();
                        goOn.await();
                        try (Statement insert = tx.connection().createStatement()) {
                            insert.executeUpdate("INSERT INTO effect (detail) VALUES ('once')");
                        }
                        return "result";
                    });
                    answered.incrementAndGet();
                    return result;
                }));
            }
            assertThat(running.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
            // One transaction is open; the crowd neither holds nor awaits a connection.
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isLessThanOrEqualTo(10);
            goOn.countDown();

            int completed = 0;
            int ran = 0;
            for (Future<CommandResult<String>> one : results) {
                CommandResult<String> result = one.get(PATIENCE, TimeUnit.SECONDS);
                if (result.isCompleted()) {
                    completed++;
                    ran += result.isReplayed() ? 0 : 1;
                    assertThat(result.orElseThrow()).isEqualTo("result");
                } else {
                    assertThat(result).isInstanceOf(CommandResult.InProgress.class);
                }
            }
            System.out.println(engine.displayName() + ": storm: " + completed + " of " + CALLERS + " got the result");
            assertThat(ran).isEqualTo(1);
            assertThat(completed).as("those who had a seat to wait, at least").isGreaterThanOrEqualTo(100);
            assertThat(answered).hasValue(CALLERS);
            assertThat(count(pool)).isEqualTo(1);
        } finally {
            threads.shutdownNow();
        }
    }

    private static Command<String> command(Duration wait) {
        return Command.named("storm")
                .anyCaller()
                .key("one")
                .fingerprint("same")
                .with(options -> options.waitForResult(wait))
                .returningText();
    }

    private static HikariDataSource pool(Database database) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(10);
        config.setConnectionTimeout(60_000);
        return new HikariDataSource(config);
    }

    private static void execute(HikariDataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long count(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM effect")) {
            row.next();
            return row.getLong(1);
        }
    }
}
