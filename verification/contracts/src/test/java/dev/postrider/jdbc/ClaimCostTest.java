package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a claim costs beside messages that are none of its business, waiting in a paused topic and in one this node does not
 * know: counted in plans, rows and locks, never in seconds. In this package to get at the statements themselves.
 */
final class ClaimCostTest {

    private static final int OWN = 50;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void claimReadsItsOwnIndexWithAndWithoutStatistics(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        for (int crowd : List.of(0, 1_000, 10_000, 500_000)) { // of each other topic: a million in the end
            fill(dataSource, engine, crowd);
            readsItsOwnRowsOnly(planOfClaim(dataSource), crowd);
            Sql.execute(dataSource, "ANALYZE postrider_message");
            if (crowd > 0) { // a table that is known to be of one page is read as it is
                readsItsOwnRowsOnly(planOfClaim(dataSource), crowd);
            }
        }
    }

    /** Of few rows the planner may gather all and sort them, or read a table of a few pages; of many only as far as it needs. */
    private static void readsItsOwnRowsOnly(String plan, int crowd) {
        assertThat(plan).contains("postrider_message_due");
        if (crowd >= 1_000) {
            assertThat(plan)
                    .contains("Tid Scan on postrider_message m")
                    .doesNotContain("Seq Scan on postrider_message");
        }
        if (crowd >= 100_000) {
            assertThat(plan).contains("Index Scan using postrider_message_due");
        }
    }

    private static String planOfClaim(DataSource dataSource) throws SQLException {
        int topicId = topicId(dataSource);
        SqlRunner sql = SqlRunner.of(DatabaseKind.POSTGRESQL, null, TableOptions.DEFAULT_PREFIX);
        try (Connection connection = dataSource.getConnection();
                PreparedStatement explain =
                        connection.prepareStatement("EXPLAIN " + sql.sql(PostgresClaims.CLAIM_DUE))) {
            sql.bind(explain)
                    .integer(topicId)
                    .time(Instant.EPOCH)
                    .text(null)
                    .text(null)
                    .integer(topicId)
                    .integer(100)
                    .number(Long.MAX_VALUE)
                    .uuid(UUID.randomUUID())
                    .text("worker")
                    .number(30_000_000);
            return plan(explain);
        }
    }

    private static String plan(PreparedStatement explain) throws SQLException {
        StringBuilder plan = new StringBuilder();
        try (ResultSet row = explain.executeQuery()) {
            while (row.next()) {
                plan.append(row.getString(1)).append('\n');
            }
        }
        return plan.toString();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void outcomesLookUpTheirRowsByNumber(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        for (int crowd : List.of(10_000, 100_000)) {
            fill(dataSource, engine, crowd);
            for (boolean analyzed : List.of(false, true)) {
                if (analyzed) {
                    Sql.execute(dataSource, "ANALYZE postrider_message");
                }
                for (String statement : List.of(
                        PostgresOutcomes.DELETE,
                        PostgresOutcomes.ARCHIVE,
                        PostgresOutcomes.RESCHEDULE,
                        PostgresOutcomes.POSTPONE)) {
                    assertThat(planOfOutcome(dataSource, statement))
                            .as("%s rows, analyzed %s", crowd, analyzed)
                            .contains("postrider_message_pk")
                            .doesNotContain("Seq Scan on postrider_message", "postrider_message_leased");
                }
            }
        }
    }

    private static String planOfOutcome(DataSource dataSource, String outcome) throws SQLException {
        SqlRunner sql = SqlRunner.of(DatabaseKind.POSTGRESQL, null, TableOptions.DEFAULT_PREFIX);
        Object[] numbers = {1L, 2L, 3L};
        try (Connection connection = dataSource.getConnection();
                PreparedStatement explain = connection.prepareStatement("EXPLAIN " + sql.sql(outcome))) {
            Object[] tokens = {UUID.randomUUID(), UUID.randomUUID(), UUID.randomUUID()};
            Binder binder = sql.bind(explain).array("int8", numbers);
            if (outcome.equals(PostgresOutcomes.RESCHEDULE)) {
                Object[] texts = {"a", "b", "c"};
                binder.array("uuid", tokens)
                        .array("int8", numbers)
                        .array("text", texts)
                        .array("text", texts);
            } else if (outcome.equals(PostgresOutcomes.POSTPONE)) {
                binder.array("uuid", tokens).array("int8", numbers).array("text", new Object[] {"a", "b", "c"});
            } else {
                binder.array("int8", numbers).array("uuid", tokens);
            }
            if (outcome.equals(PostgresOutcomes.ARCHIVE)) {
                binder.flag(true);
            }
            return plan(explain);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void claimAndPollOnPostgresTouchNoRowOfOtherTopics(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        fill(dataSource, engine, 100_000);
        try (Postrider postrider = Postrider.on(dataSource).topic("own").build()) {
            long before = settledCount(dataSource, 0);
            assertThat(postrider.store().nextDue(List.of(TopicName.of("own")))).hasSize(1);
            assertThat(postrider.store().claim(ClaimRequest.of("own", "worker")))
                    .hasSize(OWN);
            long read = settledCount(dataSource, before + OWN) - before;

            assertThat(read).as("rows of the message table that were fetched").isBetween((long) OWN, 10L * OWN);
        }
    }

    /** The server counts asynchronously: waits until at least so many are counted. */
    private static long settledCount(DataSource dataSource, long atLeast) throws SQLException {
        Instant deadline = Instant.now().plusSeconds(60);
        long count;
        do {
            count = Sql.number(
                    dataSource,
                    "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'postrider_message'");
        } while (count < atLeast && Instant.now().isBefore(deadline));
        return count;
    }

    @ParameterizedTest
    @EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
    void claimOnInnoDbReadsAndLocksOnlyItsOwnRows(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        fill(dataSource, engine, 100_000);
        int topicId = topicId(dataSource);
        SqlRunner sql = SqlRunner.of(DatabaseKind.MYSQL, null, TableOptions.DEFAULT_PREFIX);
        String lock = sql.sql(InnoDbClaims.LOCK_DUE.replace("{tenants}", ""));
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                PreparedStatement claim = connection.prepareStatement(lock)) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            sql.bind(claim)
                    .integer(topicId)
                    .time(Instant.EPOCH)
                    .integer(topicId)
                    .integer(20);
            statement.execute("FLUSH STATUS");
            try (ResultSet row = claim.executeQuery()) {
                int rows = 0;
                while (row.next()) {
                    rows++;
                }
                assertThat(rows).isEqualTo(20);
            }
            assertThat(handled(statement)).as("rows the server stepped over").isBetween(20L, 200L);
            assertThat(locked(statement)).as("rows locked").isBetween(20L, 100L);
            connection.rollback();
        }
    }

    private static long handled(Statement statement) throws SQLException {
        long handled = 0;
        try (ResultSet row = statement.executeQuery("SHOW SESSION STATUS LIKE 'Handler_read%'")) {
            while (row.next()) {
                handled += row.getLong(2);
            }
        }
        return handled;
    }

    private static long locked(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT trx_rows_locked FROM information_schema.innodb_trx"
                + " WHERE trx_mysql_thread_id = CONNECTION_ID()")) {
            row.next();
            return row.getLong(1);
        }
    }

    private static DataSource migrated(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("cost").dataSource();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("own")
                .topic("paused")
                .topic("unknown")
                .build()) {
            postrider.migrate();
            postrider.admin().pause(TopicName.of("paused"), "test");
            Message.Builder message = Message.to("own").type("x").text("y");
            postrider.inTransaction(work -> work.stage(Collections.nCopies(OWN, message).stream()
                    .map(Message.Builder::build)
                    .toList()));
        }
        return dataSource;
    }

    /** So many more waiting in each of the other two topics. */
    private static void fill(DataSource dataSource, Engine engine, int count) throws SQLException {
        boolean postgres = engine == Engine.POSTGRESQL_15 || engine == Engine.POSTGRESQL_18;
        String numbers = postgres
                ? "generate_series(1, " + count + ") AS n (i)"
                : "(WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < " + count
                        + ") SELECT i FROM n) AS n";
        String id = postgres ? "gen_random_uuid()" : "UNHEX(MD5(CONCAT(t.topic, n.i)))";
        String now = postgres ? "now()" : "UTC_TIMESTAMP(6)";
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            if (!postgres) {
                statement.execute(
                        engine == Engine.MYSQL_8_0
                                ? "SET SESSION cte_max_recursion_depth = 1000000"
                                : "SET SESSION max_recursive_iterations = 1000000");
            }
            statement.execute(
                    "INSERT INTO postrider_message (id, topic_id, topic, type, content_type, payload, available_at, created_at)"
                            + " SELECT " + id + ", t.id, t.topic, 'x', 'text/plain', 'y', " + now
                            + ", " + now + " FROM postrider_topic t CROSS JOIN " + numbers
                            + " WHERE t.topic IN ('paused', 'unknown') AND " + count + " > 0");
        }
    }

    private static int topicId(DataSource dataSource) throws SQLException {
        return (int) Sql.number(dataSource, "SELECT id FROM postrider_topic WHERE topic = 'own'");
    }
}
