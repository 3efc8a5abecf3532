package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.TopicName;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What reading lanes and writing their outcomes costs, however many messages wait in them and whatever the database knows of them:
 * counted in plans, rows and pages, never in seconds. In this package to get at the statements themselves.
 */
final class LaneCostTest {

    private static final TopicName OWN = TopicName.of("own");
    private static final int LANES = 32;
    private static final int ROOM = 16;
    private static final int BATCH = 500;
    private static final UUID TOKEN = new UUID(1, 2);

    // PostgreSQL

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void readsTakeTheirRowsFromTheIndexHoweverManyWait(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        for (int crowd : List.of(0, 1_000, 200_000)) {
            everyPlan(dataSource, engine, crowd, session -> {
                for (String read : List.of(PostgresLaneReads.READ, PostgresLaneReads.READ_WITHIN)) {
                    Plan plan = session.explain(read, readArguments(read, session.topicId, 0));
                    int expected = Math.min(crowd, LANES * ROOM);
                    assertThat(plan.returned()).as(plan.text).isEqualTo(expected + 1); // and the row of the sight
                    assertThat(plan.rowsOfMessages()).as(plan.text).isEqualTo(expected);
                    if (crowd > 0) { // a table that is known to be empty is read as it is
                        assertThat(plan.text).doesNotContain("Seq Scan on postrider_message ");
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void outcomesLookUpEachRowOnce(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        for (int crowd : List.of(1_000, 100_000)) {
            everyPlan(dataSource, engine, crowd, session -> {
                Rows rows = session.rows(BATCH);
                List<String> lanes = session.fence();
                List<String> numbers = List.of(array("bigint", rows.seqs), array("bigint", rows.seqs), uuids(rows));
                List<String> acknowledge = concat(lanes, numbers);
                List<String> all =
                        concat(lanes, List.of(array("bigint", rows.seqs), Integer.toString(LANES), bytes(rows)));
                Plan delete = session.explain(PostgresLaneOutcomes.DELETE_ALL, concat(all, List.of("" + BATCH)));
                touchesEachOnceWithoutAList(delete, crowd);
                Plan archive =
                        session.explain(PostgresLaneOutcomes.ARCHIVE_ALL, concat(all, List.of("true", "" + BATCH)));
                touchesEachOnceWithoutAList(archive, crowd);
                touchesEachOnce(session.explain(PostgresLaneOutcomes.DELETE, acknowledge), crowd);
                touchesEachOnce(
                        session.explain(
                                PostgresLaneOutcomes.BLOCK,
                                concat(
                                        acknowledge,
                                        List.of(
                                                array("bigint", rows.seqs),
                                                array("int", Collections.<Object>nCopies(BATCH, 0))))),
                        crowd);
                touchesEachOnce(
                        session.explain(PostgresLaneOutcomes.ARCHIVE, concat(acknowledge, List.of("true"))), crowd);
                Plan move = session.explain(PostgresLaneOutcomes.MOVE, concat(lanes, moves(rows)));
                assertThat(move.changed()).as(move.text).isEqualTo(BATCH);
            });
        }
    }

    private static void touchesEachOnce(Plan plan, int crowd) {
        assertThat(plan.text).contains("hashed SubPlan");
        touchesEachOnceWithoutAList(plan, crowd);
    }

    /** Where a batch is half of the table, the planner may read all of it. */
    private static void touchesEachOnceWithoutAList(Plan plan, int crowd) {
        assertThat(plan.changed()).as(plan.text).isEqualTo(BATCH);
        assertThat(plan.text).doesNotContain("Join Filter");
        if (crowd > 2 * BATCH) {
            assertThat(plan.text)
                    .contains("postrider_message_pk")
                    .doesNotContain("Seq Scan on postrider_message ", "Rows Removed");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void questionsForWhatWaitsAreAnsweredByTheirIndexes(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        everyPlan(dataSource, engine, 100_000, session -> {
            session.block(30_000);
            String lanes = array("smallint", IntStream.range(0, LANES).boxed().toList());
            String topic = Integer.toString(session.topicId);
            for (String grouped : List.of(LaneKeys.HEADLESS, LaneKeys.WAITING_KEYS)) {
                Plan plan = session.explain(
                        ValueList.in(grouped, LANES),
                        concat(
                                List.of(topic),
                                IntStream.range(0, LANES)
                                        .mapToObj(Integer::toString)
                                        .toList()));
                assertThat(plan.rowsOfMessages()).as(plan.text).isBetween(30_000L, 33_000L);
            }
            Plan timed = session.explain(
                    PostgresLaneReads.READ_TIMED,
                    List.of(lanes, topic, "'{}'::bigint[]", "8", topic, "50", topic, "1000000"));
            assertThat(timed.text).contains("postrider_message_timed");
            Plan due = session.explain(
                    PostgresLaneReads.NEXT_DUE,
                    List.of(
                            array("int", copies(session.topicId)),
                            lanes,
                            array("bigint", IntStream.range(0, LANES).boxed().toList())));
            for (Plan plan : List.of(timed, due)) {
                assertThat(plan.text).doesNotContain("Seq Scan on postrider_message ");
                assertThat(plan.rowsOfMessages()).as(plan.text).isLessThanOrEqualTo(LANES);
            }
        });
    }

    /** Dead rows that a vacuum may not remove lie before the floor, and reading begins behind it. */
    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void readFromTheFloorPassesNoDeadRowUnderAHeldSnapshot(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        try (Connection snapshot = dataSource.getConnection();
                Statement held = snapshot.createStatement()) {
            snapshot.setAutoCommit(false);
            held.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            held.execute("SELECT count(*) FROM postrider_topic");
            fill(dataSource, engine, 300_000);
            Sql.execute(dataSource, "DELETE FROM postrider_message");
            fill(dataSource, engine, 10_000);
            long floor = Sql.number(dataSource, "SELECT min(seq) - 1 FROM postrider_message");
            for (boolean generic : List.of(false, true)) {
                try (Session session = new Session(dataSource, generic)) {
                    Plan fromFloor = session.explain(
                            PostgresLaneReads.READ, readArguments(PostgresLaneReads.READ, session.topicId, floor));
                    Plan fromZero = session.explain(
                            PostgresLaneReads.READ, readArguments(PostgresLaneReads.READ, session.topicId, 0));

                    assertThat(fromFloor.pages()).as(fromFloor.text).isLessThan(3L * LANES * ROOM);
                    assertThat(fromZero.pages()).as("what the floor is for").isGreaterThan(300_000 / 20);
                }
            }
            snapshot.rollback();
        }
    }

    @FunctionalInterface
    private interface Check {
        void on(Session session) throws SQLException;
    }

    /** So many messages, known to the planner or not, with plans made for the values at hand or for any. */
    private static void everyPlan(DataSource dataSource, Engine engine, int crowd, Check check) throws SQLException {
        Sql.execute(dataSource, "TRUNCATE postrider_message");
        fill(dataSource, engine, crowd);
        for (boolean analyzed : List.of(false, true)) {
            if (analyzed) {
                Sql.execute(dataSource, "ANALYZE postrider_message");
            }
            for (boolean generic : List.of(false, true)) {
                try (Session session = new Session(dataSource, generic)) {
                    check.on(session);
                }
            }
        }
    }

    private static List<String> readArguments(String read, int topicId, long floor) {
        String topic = Integer.toString(topicId);
        List<String> looks = List.of(
                topic,
                array("smallint", IntStream.range(0, LANES).boxed().toList()),
                array("bigint", copies(floor)),
                array("int", copies(ROOM)));
        String nothing = "'{}'::bigint[]";
        return read.equals(PostgresLaneReads.READ)
                ? concat(looks, List.of("1000", topic, nothing))
                : concat(looks, List.of(topic, nothing, "1000000"));
    }

    private static List<String> moves(Rows rows) {
        int count = rows.seqs.size();
        List<String> texts = new ArrayList<>();
        texts.add(array("bigint", rows.seqs));
        texts.add(array("text", List.of("PENDING", "SCHEDULED")));
        texts.add(array("bigint", rows.seqs));
        texts.add(uuids(rows));
        texts.add(array("text", Collections.nCopies(count, "RETRY")));
        texts.add(array("int", Collections.nCopies(count, 1)));
        texts.add(array("bigint", Collections.nCopies(count, 1000)));
        texts.add(array("text", Collections.nCopies(count, "error")));
        texts.add("array_fill(NULL::text, ARRAY[" + count + "])");
        texts.add("array_fill(NULL::text, ARRAY[" + count + "])");
        texts.add(array("text", Collections.nCopies(count, "attempt")));
        return texts;
    }

    private record Rows(List<Object> seqs, List<Object> ids) {}

    private static String uuids(Rows rows) {
        return array("uuid", rows.ids);
    }

    private static String bytes(Rows rows) {
        return rows.ids.stream()
                .map(id -> id.toString().replace("-", ""))
                .collect(Collectors.joining("", "'\\x", "'::bytea"));
    }

    private static List<Object> copies(Object value) {
        return new ArrayList<>(Collections.nCopies(LANES, value));
    }

    private static String array(String type, List<?> values) {
        return values.stream().map(String::valueOf).collect(Collectors.joining(",", "'{", "}'::" + type + "[]"));
    }

    private static List<String> concat(List<String> one, List<String> other) {
        List<String> all = new ArrayList<>(one);
        all.addAll(other);
        return all;
    }

    /** A connection whose prepared statements are planned in one way. Nothing that it explains stays. */
    private static final class Session implements AutoCloseable {

        private final Connection connection;
        private final SqlRunner sql = SqlRunner.of(DatabaseKind.POSTGRESQL, null, TableOptions.DEFAULT_PREFIX);
        final int topicId;

        Session(DataSource dataSource, boolean generic) throws SQLException {
            connection = dataSource.getConnection();
            connection.setAutoCommit(false);
            topicId = (int) query("SELECT id FROM postrider_topic").get(0).get(0);
            run("SET plan_cache_mode = " + (generic ? "force_generic_plan" : "force_custom_plan"));
            run("UPDATE postrider_lane SET token = '" + TOKEN + "'");
        }

        /** The first of each lane waits for a while, and many behind it. */
        void block(int count) throws SQLException {
            long first = (long)
                    query("SELECT min(seq) FROM postrider_message").get(0).get(0);
            run("UPDATE postrider_message SET state = 'BLOCKED' WHERE seq < " + (first + count));
            run("UPDATE postrider_message SET state = 'RETRY', available_at = now() + interval '1 hour' WHERE seq < "
                    + (first + LANES));
        }

        List<String> fence() {
            return List.of(
                    array("int", copies(topicId)),
                    array("smallint", IntStream.range(0, LANES).boxed().toList()),
                    array("uuid", copies(TOKEN)),
                    array("int", copies(0)));
        }

        Rows rows(int count) throws SQLException {
            List<List<Object>> rows = query("SELECT seq, id FROM postrider_message ORDER BY seq LIMIT " + count);
            return new Rows(
                    rows.stream().map(row -> row.get(0)).toList(),
                    rows.stream().map(row -> row.get(1)).toList());
        }

        Plan explain(String statement, List<String> arguments) throws SQLException {
            String numbered = sql.sql(statement);
            for (int i = 1; numbered.contains("?"); i++) {
                numbered = numbered.replaceFirst("\\?", "\\$" + i);
            }
            run("SAVEPOINT explained");
            run("PREPARE explained AS " + numbered);
            String plan = query("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE explained ("
                            + String.join(", ", arguments) + ")")
                    .stream()
                    .map(row -> String.valueOf(row.get(0)))
                    .collect(Collectors.joining("\n"));
            run("ROLLBACK TO explained");
            run("DEALLOCATE explained");
            return new Plan(plan);
        }

        private List<List<Object>> query(String sql) throws SQLException {
            List<List<Object>> rows = new ArrayList<>();
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql)) {
                while (row.next()) {
                    List<Object> columns = new ArrayList<>();
                    for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                        columns.add(row.getObject(i));
                    }
                    rows.add(columns);
                }
            }
            return rows;
        }

        private void run(String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }

        @Override
        public void close() throws SQLException {
            connection.rollback();
            connection.close();
        }
    }

    /** What {@code EXPLAIN ANALYZE} has printed. */
    private record Plan(String text) {

        private static final Pattern ACTUAL = Pattern.compile("actual rows=([0-9.]+) loops=(\\d+)");
        private static final Pattern REMOVED =
                Pattern.compile("Rows Removed by (?:Join )?(?:Filter|Index Recheck): (\\d+)");
        private static final Pattern PAGES = Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?");

        long returned() {
            return actual(text.lines().findFirst().orElse(""));
        }

        /** Rows that were read from the messages, by whatever kind of scan, those that did not fit included. */
        long rowsOfMessages() {
            long rows = 0;
            String[] lines = text.split("\n");
            for (int i = 0; i < lines.length; i++) {
                if (lines[i].matches(".*(Scan using \\S+ on|Heap Scan on|Seq Scan on) postrider_message( .*|)")) {
                    rows += actual(lines[i]);
                    Matcher loops = ACTUAL.matcher(lines[i]);
                    long times = loops.find() ? Long.parseLong(loops.group(2)) : 1;
                    for (int below = i + 1; below < lines.length && !lines[below].contains("->"); below++) {
                        Matcher removed = REMOVED.matcher(lines[below]);
                        rows += removed.find() ? Long.parseLong(removed.group(1)) * times : 0;
                    }
                }
            }
            return rows;
        }

        long changed() {
            return text.lines()
                    .filter(line -> line.contains("Delete on postrider_message")
                            || line.contains("Update on postrider_message"))
                    .mapToLong(Plan::actual)
                    .sum();
        }

        long pages() {
            Matcher pages = PAGES.matcher(text);
            return pages.find()
                    ? IntStream.of(1, 2)
                            .mapToObj(pages::group)
                            .mapToLong(count -> count == null ? 0 : Long.parseLong(count))
                            .sum()
                    : 0;
        }

        private static long actual(String line) {
            Matcher actual = ACTUAL.matcher(line);
            return actual.find()
                    ? Math.round(Double.parseDouble(actual.group(1)) * Long.parseLong(actual.group(2)))
                    : 0;
        }
    }

    // MySQL and MariaDB

    @ParameterizedTest
    @EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
    void readOnInnoDbStepsOverItsOwnRowsOnly(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        LaneReads lanes = new InnoDbLaneReads(SqlRunner.of(DatabaseKind.MYSQL, null, TableOptions.DEFAULT_PREFIX));
        int topicId = (int) Sql.number(dataSource, "SELECT id FROM postrider_topic");
        List<LaneCursor.LaneScan> looks = IntStream.range(0, LANES)
                .mapToObj(lane -> new LaneCursor.LaneScan(lane, 0, ROOM, false, List.of()))
                .toList();
        for (int crowd : List.of(0, 1_000, 200_000)) {
            Sql.execute(dataSource, "TRUNCATE TABLE postrider_message");
            fill(dataSource, engine, crowd);
            for (boolean analyzed : List.of(false, true)) {
                if (analyzed) {
                    Sql.execute(dataSource, "ANALYZE TABLE postrider_message");
                }
                int expected = Math.min(crowd, LANES * ROOM);
                try (Connection connection = dataSource.getConnection();
                        Statement statement = connection.createStatement()) {
                    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                    statement.execute("FLUSH STATUS");
                    assertThat(lanes.read(connection, topicId, OWN, looks, Long.MAX_VALUE)
                                    .rows())
                            .hasSize(expected);
                    // each is met three times: in the index, in the union of the lanes, and in the table
                    assertThat(handled(statement))
                            .as("rows the server stepped over, of %s, analyzed %s", crowd, analyzed)
                            .isLessThan(4L * expected + 10 * LANES);
                }
            }
        }
    }

    /** Each lane steps over what was read of it, and not over as many rows as were read of all lanes. */
    @ParameterizedTest
    @EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
    void readOnInnoDbStepsOverWhatWasReadOfEachLaneOnly(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        LaneReads lanes = new InnoDbLaneReads(SqlRunner.of(DatabaseKind.MYSQL, null, TableOptions.DEFAULT_PREFIX));
        int topicId = (int) Sql.number(dataSource, "SELECT id FROM postrider_topic");
        fill(dataSource, engine, 50_000);
        List<LaneCursor.LaneScan> looks = new ArrayList<>();
        for (int lane = 0; lane < LANES; lane++) {
            List<Long> read = Sql.query(
                            dataSource,
                            "SELECT seq FROM postrider_message WHERE lane = " + lane + " ORDER BY seq LIMIT " + ROOM)
                    .stream()
                    .map(Long::valueOf)
                    .toList();
            looks.add(new LaneCursor.LaneScan(lane, 0, ROOM, false, read));
        }
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            statement.execute("FLUSH STATUS");
            assertThat(lanes.read(connection, topicId, OWN, looks, Long.MAX_VALUE)
                            .rows())
                    .hasSize(LANES * ROOM);
            assertThat(handled(statement)).isLessThan(4L * 2 * LANES * ROOM + 10 * LANES);
        }
    }

    /** Rows behind their head are stepped over; their number decides the cost, not the number of messages in the lanes. */
    @ParameterizedTest
    @EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
    void readOfDueHeadsOnInnoDbStepsOverDueRowsOnly(Engine engine) throws SQLException {
        DataSource dataSource = migrated(engine);
        LaneReads lanes = new InnoDbLaneReads(SqlRunner.of(DatabaseKind.MYSQL, null, TableOptions.DEFAULT_PREFIX));
        int topicId = (int) Sql.number(dataSource, "SELECT id FROM postrider_topic");
        List<Integer> owned = IntStream.range(0, LANES).boxed().toList();
        for (int crowd : List.of(1_000, 100_000)) {
            Sql.execute(dataSource, "TRUNCATE TABLE postrider_message");
            fill(dataSource, engine, crowd);
            long first = Sql.number(dataSource, "SELECT MIN(seq) FROM postrider_message WHERE lane = 0");
            for (String change : List.of(
                    "state = 'PARKED', reason = 'FAILED', ordering_key = 'parked' WHERE seq = " + first,
                    "state = 'RETRY', ordering_key = 'parked' WHERE state = 'PENDING' AND lane = 0 ORDER BY seq LIMIT 20",
                    "state = 'RETRY', ordering_key = CONCAT('k', seq) WHERE state = 'PENDING' AND lane = 1"
                            + " ORDER BY seq LIMIT 20")) {
                Sql.execute(dataSource, "UPDATE postrider_message SET " + change);
            }
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                statement.execute("FLUSH STATUS");
                assertThat(lanes.readTimed(
                                connection, topicId, OWN, new LaneReads.TimedScan(owned, List.of(), 8, Long.MAX_VALUE)))
                        .hasSize(20);
                assertThat(handled(statement))
                        .as("rows the server stepped over, of %s", crowd)
                        .isLessThan(2_000);
            }
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

    private static DataSource migrated(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("lanes").dataSource();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("own", topic -> topic.lanes(LANES))
                .build()) {
            postrider.migrate();
        }
        return dataSource;
    }

    /** So many hot messages more, spread over the lanes. */
    private static void fill(DataSource dataSource, Engine engine, int count) throws SQLException {
        boolean postgres =
                Arrays.asList(Engine.POSTGRESQL_15, Engine.POSTGRESQL_18).contains(engine);
        String numbers = postgres
                ? "generate_series(1, " + count + ") AS n (i)"
                : "(WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < " + count
                        + ") SELECT i FROM n) AS n";
        String id = postgres ? "gen_random_uuid()" : "UNHEX(MD5(n.i))";
        String now = postgres ? "now()" : "UTC_TIMESTAMP(6)";
        String lane = postgres ? "(n.i % " + LANES + ")::smallint" : "n.i % " + LANES;
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            if (!postgres) {
                statement.execute(
                        engine == Engine.MYSQL_8_0
                                ? "SET SESSION cte_max_recursion_depth = 1000000"
                                : "SET SESSION max_recursive_iterations = 1000000");
            }
            statement.execute(
                    "INSERT INTO postrider_message (id, topic_id, topic, type, ordering_key, content_type, payload, lane,"
                            + " available_at, created_at)"
                            + " SELECT " + id + ", t.id, t.topic, 'x', 'k', 'text/plain', 'y', " + lane
                            + ", " + now + ", " + now
                            + " FROM postrider_topic t CROSS JOIN " + numbers + " WHERE " + count + " > 0");
        }
    }
}
