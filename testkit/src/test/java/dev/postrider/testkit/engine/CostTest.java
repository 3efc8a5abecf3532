package dev.postrider.testkit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a claim costs beside 100,000 messages that are none of its business: counted in rows and plans, never in seconds. */
final class CostTest {

    private static final int CROWD = 100_000;

    @Test
    void claimOnPostgresReadsOnlyItsOwnRowsInIndexOrder() throws SQLException {
        DataSource dataSource = crowded(Engine.POSTGRESQL_18);
        for (boolean analyzed : List.of(false, true)) {
            if (analyzed) {
                execute(dataSource, "ANALYZE postrider_message");
            }
            String plan = plan(dataSource);
            assertThat(plan)
                    .as("analyzed: %s", analyzed)
                    .contains("postrider_message_due")
                    .doesNotContain(
                            "Seq Scan on postrider_message",
                            "Sort Key: m.",
                            "Sort Key: postrider_message.available_at");
        }
    }

    /** The plan of the statement as the server itself recorded it, with the real parameters. */
    private static String plan(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet topic = statement.executeQuery("SELECT id FROM postrider_topic WHERE topic = 'lively'")) {
            topic.next();
            int id = topic.getInt(1);
            StringBuilder plan = new StringBuilder();
            try (ResultSet row = statement.executeQuery(
                    "EXPLAIN SELECT seq, available_at, octet_length(payload) FROM postrider_message"
                            + " WHERE topic_id = " + id + " AND state = 'PENDING' AND available_at >= '1970-01-01'"
                            + " AND available_at <= statement_timestamp()"
                            + " AND NOT EXISTS (SELECT FROM postrider_topic WHERE id = " + id + " AND paused)"
                            + " ORDER BY available_at, seq LIMIT 100 FOR UPDATE SKIP LOCKED")) {
                while (row.next()) {
                    plan.append(row.getString(1)).append('\n');
                }
            }
            return plan.toString();
        }
    }

    @Test
    void claimOnPostgresTouchesNoRowOfOtherTopics() throws SQLException {
        DataSource dataSource = crowded(Engine.POSTGRESQL_18);
        try (Postrider postrider = Postrider.on(dataSource).topic("lively").build()) {
            long before = rowsRead(dataSource);
            List<Claim> claims = postrider.store().claim(ClaimRequest.of("lively", "w"));
            postrider.store().nextDue(List.of(TopicName.of("lively")));
            long read = rowsRead(dataSource) - before;

            assertThat(claims).hasSize(50);
            assertThat(read).as("rows fetched through indexes and scans").isLessThan(500);
        }
    }

    private static long rowsRead(DataSource dataSource) throws SQLException {
        // Statistics of other sessions arrive late; those of the connection that asks, when it asks for it.
        return number(
                dataSource,
                "SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables"
                        + " WHERE relname = 'postrider_message'");
    }

    @ParameterizedTest
    @EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
    void claimOnInnoDbLocksAndReadsOnlyItsOwnRows(Engine engine) throws SQLException {
        DataSource dataSource = crowded(engine);
        execute(dataSource, "ANALYZE TABLE postrider_message");
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            int id;
            try (ResultSet topic = statement.executeQuery("SELECT id FROM postrider_topic WHERE topic = 'lively'")) {
                topic.next();
                id = topic.getInt(1);
            }
            statement.execute("FLUSH STATUS");
            int rows = 0;
            try (ResultSet row =
                    statement.executeQuery("SELECT seq, OCTET_LENGTH(payload) AS bytes FROM postrider_message"
                            + " WHERE state = 'PENDING' AND topic_id = " + id
                            + " AND available_at >= '1970-01-01' AND available_at <= UTC_TIMESTAMP(6)"
                            + " AND NOT EXISTS (SELECT 1 FROM postrider_topic t WHERE t.id = " + id + " AND t.paused)"
                            + " ORDER BY available_at, seq LIMIT 20 FOR UPDATE SKIP LOCKED")) {
                while (row.next()) {
                    rows++;
                }
            }
            assertThat(rows).isEqualTo(20);
            try (ResultSet read = statement.executeQuery("SHOW SESSION STATUS LIKE 'Handler_read%'")) {
                long handled = 0;
                while (read.next()) {
                    handled += read.getLong(2);
                }
                assertThat(handled).as("rows the server stepped over").isLessThan(200);
            }
            try (ResultSet locks = statement.executeQuery("SELECT trx_rows_locked FROM information_schema.innodb_trx"
                    + " WHERE trx_mysql_thread_id = CONNECTION_ID()")) {
                locks.next();
                assertThat(locks.getLong(1)).as("rows locked").isLessThan(100);
            }
            connection.rollback();
        }
    }

    /** 100,000 waiting in a paused topic, as many in one this node does not know, 50 in the one it works on. */
    private static DataSource crowded(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("cost").dataSource();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("lively")
                .topic("paused")
                .topic("unknown")
                .build()) {
            postrider.migrate();
            postrider.admin().pause(TopicName.of("paused"), "test");
            for (String topic : List.of("paused", "unknown")) {
                fill(dataSource, engine, topic);
            }
            postrider.inTransaction(work -> {
                List<dev.postrider.message.Message> messages = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    messages.add(dev.postrider.message.Message.to("lively")
                            .type("x")
                            .text("y")
                            .build());
                }
                work.stage(messages);
            });
        }
        return dataSource;
    }

    private static void fill(DataSource dataSource, Engine engine, String topic) throws SQLException {
        String columns =
                "(id, topic_id, namespace, topic, type, content_type, payload, headers, occurred_at, available_at,"
                        + " created_at, updated_at)";
        if (engine == Engine.POSTGRESQL_18) {
            execute(
                    dataSource,
                    "INSERT INTO postrider_message " + columns
                            + " SELECT gen_random_uuid(), t.id, 'default', '" + topic
                            + "', 'x', 'text/plain', 'y', '{}', now(), now(), now(), now()"
                            + " FROM postrider_topic t, generate_series(1, " + CROWD + ") WHERE t.topic = '" + topic
                            + "'");
            return;
        }
        String digits =
                "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5"
                        + " UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
        execute(
                dataSource,
                "INSERT INTO postrider_message " + columns
                        + " SELECT UNHEX(MD5(CONCAT('" + topic + "', a.d, b.d, c.d, e.d, f.d))), t.id, 'default', '"
                        + topic
                        + "', 'x', 'text/plain', 'y', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)"
                        + " FROM postrider_topic t, " + digits + " a, " + digits + " b, " + digits + " c, " + digits
                        + " e, " + digits
                        + " f WHERE t.topic = '" + topic + "'");
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long number(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_stat_clear_snapshot()");
            try (ResultSet row = statement.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
