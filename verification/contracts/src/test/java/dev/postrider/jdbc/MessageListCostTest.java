package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.Change;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.Paging;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.contracts.Sql;
import dev.postrider.message.TopicName;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a page of a list costs beside 100,000 waiting and 100,000 delivered messages, with stale statistics: counted in rows that the
 * server reads, never in seconds.
 */
final class MessageListCostTest {

    private static final int MANY = 100_000;
    private static final int FEW = 40;

    /**
     * A page counts until it knows that there are many, finds the end of the rows to examine, and examines them. MySQL and MariaDB count
     * the rows of their internal tables too.
     */
    private static final long MOST = 6L * Filter.EXAMINED;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_18", "MARIADB_11_4", "MYSQL_8_0"})
    void pageReadsABoundedNumberOfRows(Engine engine) throws Exception {
        CountedReads counted = counted(engine);
        try (Postrider postrider =
                Postrider.on(counted.dataSource()).topic("many").topic("few").build()) {
            Admin admin = postrider.admin();
            Map<String, Filter> filters = new LinkedHashMap<>();
            filters.put("all", Filter.all());
            filters.put("an error", Filter.all().errorContains("no such error"));
            filters.put("a correlation id", Filter.all().correlationId("none"));
            filters.put("a key", Filter.all().idempotencyKey("none"));
            filters.put("retrying", Filter.in(State.RETRYING));
            filters.put("scheduled", Filter.in(State.SCHEDULED));
            filters.put("a type of a topic", Filter.all().topic("many").type("none"));
            filters.put("delivered", Filter.delivered().tenant("none"));
            filters.put(
                    "a range of deliveries",
                    Filter.delivered().type("none").delivered(Instant.EPOCH, Instant.parse("2200-01-01T00:00:00Z")));
            for (Map.Entry<String, Filter> entry : filters.entrySet()) {
                for (Paging paging : List.of(Paging.oldest(50), Paging.newest(50))) {
                    long read = counted.read(() -> admin.messages(entry.getValue(), paging));
                    assertThat(read).as(entry.getKey() + " " + paging).isLessThan(MOST);
                }
            }
            long failures = counted.read(() -> admin.failures(Filter.all(), 100));
            assertThat(failures).as("failures").isLessThan(MOST);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_18", "MARIADB_11_4", "MYSQL_8_0"})
    void stateOrTopicOfFewMessagesIsReadWithoutTheOthers(Engine engine) throws Exception {
        CountedReads counted = counted(engine);
        try (Postrider postrider =
                Postrider.on(counted.dataSource()).topic("many").topic("few").build()) {
            Admin admin = postrider.admin();
            Map<String, Filter> filters = new LinkedHashMap<>();
            filters.put("dead", Filter.dead());
            filters.put("dead of a topic", Filter.dead().topic("few").errorContains("route"));
            filters.put("dead or parked", Filter.in(State.DEAD, State.PARKED));
            filters.put("processing", Filter.in(State.PROCESSING));
            filters.put("a topic", Filter.all().topic("few").states(MessageStates.LIVE));
            for (Map.Entry<String, Filter> entry : filters.entrySet()) {
                long read = counted.read(() -> {
                    MessagePage page = admin.messages(entry.getValue(), Paging.newest(50));
                    assertThat(page.messages()).hasSize(entry.getKey().equals("processing") ? 0 : FEW);
                    assertThat(page.next()).isNull();
                });
                assertThat(read).as(entry.getKey()).isLessThan(20L * FEW);
            }
            long changed = counted.read(() -> assertThat(
                            admin.apply(Action.REPLAY, Filter.dead().topic("few"), Change.by("ann"))
                                    .changed())
                    .isEqualTo(FEW));
            assertThat(changed).as("replay").isLessThan(30L * FEW);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_18", "MARIADB_11_4"})
    void searchContinuesWhereTheLastPageEnded(Engine engine) throws Exception {
        CountedReads counted = counted(engine);
        try (Postrider postrider =
                Postrider.on(counted.dataSource()).topic("many").topic("few").build()) {
            Paging paging = Paging.oldest(50);
            int found = 0;
            int pages = 0;
            MessagePage page;
            do {
                page = postrider
                        .admin()
                        .messages(Filter.in(State.DEAD, State.PENDING).errorContains("route"), paging);
                found += page.messages().size();
                pages++;
                assertThat(page.cut()).isEqualTo(page.next() != null);
                paging = paging.after(page.next());
            } while (page.next() != null);

            assertThat(found).isEqualTo(FEW);
            assertThat(pages).isEqualTo(MANY / Filter.EXAMINED + 1);
        }
    }

    private static CountedReads counted(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("lists").dataSource();
        boolean postgres = engine == Engine.POSTGRESQL_18;
        try (Postrider postrider =
                Postrider.on(dataSource).topic("many").topic("few").build()) {
            postrider.migrate();
            assertThat(postrider.admin().status())
                    .extracting(status -> status.topic())
                    .contains(TopicName.of("few"));
        }
        fill(dataSource, postgres);
        return CountedReads.of(dataSource, engine);
    }

    /** The dead letters come last, so that a search by number meets them at its end. */
    private static void fill(DataSource dataSource, boolean postgres) throws SQLException {
        Sql.execute(dataSource, rows("message", "many", "0", "", "", postgres));
        Sql.execute(dataSource, rows("archive", "many", "0", "seq, attempts, crashes, ", "n.i, 1, 0, ", postgres));
        Sql.execute(
                dataSource,
                rows(
                        "message",
                        "few",
                        "" + (MANY - FEW),
                        "state, reason, last_error, updated_at, ",
                        "'DEAD', 'REJECTED', 'no route', {now}, ",
                        postgres));
    }

    /** Inserts a row for each number above the given one. */
    private static String rows(
            String table, String topic, String above, String columns, String values, boolean postgres) {
        String digits = "(SELECT 0 AS i UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5"
                + " UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
        String numbers = postgres
                ? "generate_series(1, " + MANY + ") AS n (i)"
                : "(SELECT a.i + 10 * b.i + 100 * c.i + 1000 * d.i + 10000 * e.i + 1 AS i FROM " + digits + " a, "
                        + digits + " b, " + digits + " c, " + digits + " d, " + digits + " e) AS n";
        String id = postgres ? "gen_random_uuid()" : "UNHEX(MD5(CONCAT(t.topic, n.i)))";
        String time = table.equals("archive") ? "delivered_at" : "available_at";
        String before = postgres ? "{now} - n.i * interval '1 millisecond'" : "{now} - INTERVAL n.i * 1000 MICROSECOND";
        String insert = "INSERT INTO postrider_" + table + " (" + columns + time
                + ", id, topic_id, topic, type, payload, created_at) SELECT " + values + before + ", " + id
                + ", t.id, t.topic, 'x', 'y', {now} FROM postrider_topic t CROSS JOIN " + numbers + " WHERE t.topic = '"
                + topic + "' AND n.i > " + above;
        return insert.replace("{now}", postgres ? "now()" : "UTC_TIMESTAMP(6)");
    }
}
