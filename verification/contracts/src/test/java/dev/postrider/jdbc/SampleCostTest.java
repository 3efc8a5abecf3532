package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.TopicSample;
import dev.postrider.contracts.Sql;
import dev.postrider.internal.store.SampleStore;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A sample of a large backlog ends at its limits: counted in rows that the server reads, never in seconds. */
final class SampleCostTest {

    /** The limit of a count when there are few topics. */
    private static final int LIMIT = 10_000;

    private static final int MANY = 2 * LIMIT;
    private static final int MORE = 5 * LIMIT;

    /** MySQL and MariaDB read the rows of a count three times: from the index, and twice from internal tables. */
    private static final long MOST = 3L * LIMIT + 1_000;

    @ParameterizedTest
    @CsvSource({
        "POSTGRESQL_18, 0",
        "POSTGRESQL_18, 32",
        "MARIADB_11_4, 0",
        "MARIADB_11_4, 32",
        "MYSQL_8_0, 0",
        "MYSQL_8_0, 32"
    })
    void sampleOfALargeBacklogEndsAtItsLimits(Engine engine, int lanes) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("sampled").dataSource();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("large", topic -> topic.lanes(lanes))
                .topic("small")
                .build()) {
            postrider.migrate();
        }
        CountedReads counted = CountedReads.of(dataSource, engine);
        SampleStore store = JdbcDatabase.open(
                        counted.dataSource(), TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .samples();

        fill(dataSource, counted.postgres(), lanes, 0, MANY);
        long many = read(counted, store);
        fill(dataSource, counted.postgres(), lanes, MANY, MORE);
        long more = read(counted, store);

        assertThat(many).isBetween((long) LIMIT, MOST);
        assertThat(more).as("with more messages, after " + many).isBetween(many - 1_000, many + 1_000);
        assertThat(store.read().sample().orElseThrow().topics())
                .extracting(TopicSample::waiting)
                .anyMatch(count -> !count.exact());
    }

    private static long read(CountedReads counted, SampleStore store) throws SQLException {
        String now = counted.postgres() ? "clock_timestamp()" : "UTC_TIMESTAMP(6)";
        Sql.execute(counted.dataSource(), "UPDATE postrider_sample SET due_at = " + now);
        return counted.read(
                () -> assertThat(store.takeIfDue(Duration.ofMinutes(1), "node")).isTrue());
    }

    /** Inserts the messages with the numbers above {@code from}, up to {@code to}, spread over the lanes. */
    private static void fill(DataSource dataSource, boolean postgres, int lanes, int from, int to) throws SQLException {
        String digits = "(SELECT 0 AS i UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5"
                + " UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
        String numbers = postgres
                ? "generate_series(1, " + to + ") AS n (i)"
                : "(SELECT a.i + 10 * b.i + 100 * c.i + 1000 * d.i + 10000 * e.i + 1 AS i FROM " + digits + " a, "
                        + digits + " b, " + digits + " c, " + digits + " d, " + digits + " e) AS n";
        String id = postgres ? "gen_random_uuid()" : "UNHEX(MD5(n.i))";
        String now = postgres ? "now()" : "UTC_TIMESTAMP(6)";
        String place = lanes == 0 ? "NULL, NULL" : "n.i % " + lanes + ", CONCAT('key-', n.i % 1000)";
        Sql.execute(
                dataSource,
                "INSERT INTO postrider_message (id, topic_id, topic, type, payload, available_at, created_at, lane, ordering_key)"
                        + " SELECT " + id + ", t.id, t.topic, 'x', 'y', " + now + ", " + now + ", " + place
                        + " FROM postrider_topic t CROSS JOIN " + numbers
                        + " WHERE t.topic = 'large' AND n.i > " + from + " AND n.i <= " + to);
        Sql.execute(dataSource, postgres ? "ANALYZE postrider_message" : "ANALYZE TABLE postrider_message");
    }
}
