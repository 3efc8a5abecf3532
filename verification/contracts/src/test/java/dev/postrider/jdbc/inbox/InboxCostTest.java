package dev.postrider.jdbc.inbox;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.inbox.Accepted;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the inbox reads and locks on MySQL and MariaDB beside the marks of others, in tables of any size: counted in plans, rows and
 * locks, never in seconds. In this package to get at the statements themselves.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
final class InboxCostTest {

    private static final Duration DAY = Duration.ofDays(1);
    private static final List<Integer> SIZES = List.of(10, 100, 1_000, 100_000);

    private final Engine engine;
    private final DataSource dataSource;
    private final SqlRunner sql;
    private final Postrider postrider;

    InboxCostTest(Engine engine) {
        this.engine = engine;
        DatabaseKind kind = engine == Engine.MYSQL_8_0 ? DatabaseKind.MYSQL : DatabaseKind.MARIADB;
        sql = SqlRunner.of(kind, null, TableOptions.DEFAULT_PREFIX);
        dataSource = Databases.assumeStarted(engine).createDatabase("inboxcost").dataSource();
        postrider = Postrider.on(dataSource).topic("t").build();
        postrider.migrate();
    }

    @Test
    void statementsGoByTheirIndexWithAndWithoutStatistics() throws SQLException {
        int filled = 0;
        for (int size : SIZES) {
            fill(filled, size);
            filled = size;
            goByTheirIndex(size);
            Sql.execute(dataSource, "ANALYZE TABLE postrider_inbox_mark");
            goByTheirIndex(size);
        }
    }

    private void goByTheirIndex(int size) throws SQLException {
        for (int keys : List.of(1, 3, 500)) {
            assertThat(plan(InnoDbInbox.findSql(keys, sql.kind().newestRead()), keys))
                    .as("find %s keys among %s marks", keys, size)
                    .isIn("PRIMARY const", "PRIMARY range");
            assertThat(plan(InnoDbInbox.purgeSql(keys), keys))
                    .as("purge %s keys among %s marks", keys, size)
                    .isIn("PRIMARY const", "PRIMARY range");
        }
        assertThat(plan(InnoDbInbox.LOCK_OLD, 0))
                .as("look for old ones among %s marks", size)
                .isEqualTo("postrider_inbox_mark_seen range");
    }

    /** The index that is used, and how. */
    private String plan(String statement, int keys) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement explain = connection.prepareStatement("EXPLAIN " + sql.sql(statement))) {
            Binder binder = sql.bind(explain);
            if (keys == 0) {
                binder.micros(DAY).micros(DAY.multipliedBy(2)).integer(5);
            }
            for (int i = 0; i < ValueList.paddedSize(keys); i++) {
                binder.uuid(id(Math.min(i, keys - 1))).text("billing").text("");
            }
            try (ResultSet row = explain.executeQuery()) {
                row.next();
                return row.getString("key") + " " + row.getString("type");
            }
        }
    }

    @Test
    void redeliveredBatchLocksItsOwnMarksOnly() throws SQLException {
        int filled = 0;
        for (int size : SIZES) {
            fill(filled, size);
            filled = size;
            try (Connection connection = transaction();
                    Statement statement = connection.createStatement()) {
                Accepted accepted = postrider.inbox("billing").accept(connection, batch(5));

                assertThat(accepted.duplicates()).hasSize(5);
                assertThat(locked(statement)).as("rows locked among %s", size).isBetween(5L, 15L);
                connection.rollback();
            }
        }
    }

    @Test
    void redeliveredBatchDoesNotWaitForStrangers() throws Exception {
        fill(0, 100);
        try (Connection stranger = transaction();
                Connection connection = transaction()) {
            postrider.inbox("shipping").accept(stranger, batch(20)); // the same messages, of another consumer
            postrider.inbox("billing").accept(stranger, batchOf("acme", 20)); // or of another tenant

            Accepted accepted = soon(() -> postrider.inbox("billing").accept(connection, batch(100)));

            assertThat(accepted.duplicates()).hasSize(100);
            connection.commit();
            stranger.commit();
        }
    }

    @Test
    void purgeDoesNotWaitForOpenConsumers() throws Exception {
        fill(0, 100);
        Sql.execute(
                dataSource,
                "UPDATE postrider_inbox_mark SET seen_at = seen_at - INTERVAL 36 HOUR WHERE message_id < "
                        + literal(60));
        try (Connection consumer = transaction()) {
            postrider.inbox("shipping").accept(consumer, batch(20)); // new marks of messages whose old marks are purged
            assertThat(postrider.inbox("billing").accept(consumer, batch(1)).duplicates())
                    .hasSize(1); // an old mark in use

            int purged = soon(() -> retention().purgeInboxMarks(DAY, 100));

            assertThat(purged).as("all old ones but the one in use").isEqualTo(59);
            consumer.commit();
        }
        assertThat(soon(() -> retention().purgeInboxMarks(DAY, 100))).isEqualTo(1);
        assertThat(Sql.number(dataSource, "SELECT COUNT(*) FROM postrider_inbox_mark WHERE consumer = 'shipping'"))
                .isEqualTo(20);
    }

    @Test
    void purgeReadsAndLocksNoMoreThanItRemoves() throws SQLException {
        fill(0, 1_000);
        Sql.execute(dataSource, "UPDATE postrider_inbox_mark SET seen_at = seen_at - INTERVAL 36 HOUR");
        try (Connection connection = transaction();
                Statement statement = connection.createStatement()) {
            int purged = InboxStatements.of(sql).purge(connection, DAY, DAY, 50);

            assertThat(purged).isEqualTo(50);
            assertThat(locked(statement)).as("rows locked, in two indexes").isBetween(50L, 220L);
            connection.rollback();
        }
    }

    /** So many marks in all, of this consumer, with ids in the order of their numbers. */
    private void fill(int from, int to) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    engine == Engine.MYSQL_8_0
                            ? "SET SESSION cte_max_recursion_depth = 1000000"
                            : "SET SESSION max_recursive_iterations = 1000000");
            statement.execute("INSERT INTO postrider_inbox_mark (message_id, consumer, tenant, payload_hash, seen_at)"
                    + " WITH RECURSIVE n AS (SELECT " + from + " AS i UNION ALL SELECT i + 1 FROM n WHERE i < "
                    + (to - 1)
                    + ") SELECT UNHEX(LPAD(HEX(i), 32, '0')), 'billing', '', UNHEX(SHA2('1', 256)),"
                    + " UTC_TIMESTAMP(6) FROM n");
        }
    }

    private static UUID id(int number) {
        return new UUID(0, number);
    }

    private static String literal(int number) {
        return "UNHEX(LPAD(HEX(" + number + "), 32, '0'))";
    }

    private static Collection<Message> batch(int count) {
        return batchOf(null, count);
    }

    private static Collection<Message> batchOf(@Nullable String tenant, int count) {
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            batch.add(Message.to("elsewhere")
                    .id(new MessageId(id(i)))
                    .tenant(tenant)
                    .type("t")
                    .bytes("1".getBytes(StandardCharsets.UTF_8), "text/plain")
                    .build());
        }
        return batch;
    }

    private RetentionStore retention() {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .retention();
    }

    private Connection transaction() throws SQLException {
        Connection connection = dataSource.getConnection();
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION innodb_lock_wait_timeout = 10");
        }
        return connection;
    }

    /** The server renews what it tells ten times a second: asks until it knows of this transaction. */
    private static long locked(Statement statement) throws SQLException {
        long deadline = System.nanoTime() + SECONDS.toNanos(60);
        long locked;
        do {
            LockSupport.parkNanos(MILLISECONDS.toNanos(150));
            locked = lockedNow(statement);
        } while (locked == 0 && System.nanoTime() < deadline);
        return locked;
    }

    private static long lockedNow(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT trx_rows_locked FROM information_schema.innodb_trx"
                + " WHERE trx_mysql_thread_id = CONNECTION_ID()")) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    @FunctionalInterface
    private interface Call<T> {
        T make() throws Exception;
    }

    private static <T> T soon(Call<T> call) throws Exception {
        return CompletableFuture.supplyAsync(() -> {
                    try {
                        return call.make();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                })
                .get(60, SECONDS);
    }
}
