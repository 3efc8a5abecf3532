package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.StatementHooks;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is concluded from a look at a lane on PostgreSQL, when something is written in the middle of it or of what follows. */
final class LaneSightTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int ENOUGH_ROUNDS = 200;

    private final DataSource dataSource = Databases.assumeStarted(Engine.POSTGRESQL_18)
            .createDatabase("sight")
            .dataSource();
    private final StatementHooks hooks = new StatementHooks(dataSource);
    private final Postrider postrider = Postrider.on(dataSource)
            .topic("ledger", topic -> topic.ordered().lanes(1))
            .topic("journal", topic -> topic.ordered().lanes(1))
            .build();

    @AfterEach
    void close() {
        postrider.close();
    }

    @Test
    void numberThatIsSeenWhileAnOutcomeIsWrittenIsNotProvedByIt() throws SQLException {
        LaneStore store = store();
        Lane lane = take(store, "ledger");
        write("ledger", "a", 0);
        List<LaneClaim> first = read(store, lane);
        try (Connection later = dataSource.getConnection()) {
            later.setAutoCommit(false);
            hooks.at(1, false, () -> {
                postrider.outbox(later).enqueue(message("ledger", "b", 1));
                assertThat(read(store, lane)).as("it has its number already").isEmpty();
            });
            deliver(store, first);
            assertThat(hooks.disarm()).isTrue();
            awaitNothingOlderThan(later);
            assertThat(read(store, lane)).isEmpty();
            later.commit();
        }

        assertThat(numbers(read(store, lane))).containsExactly(1);
    }

    @Test
    void whatIsCommittedInTheMiddleOfAReadIsReadInWholeOrNotAtAll() throws SQLException {
        LaneStore store = store();
        Lane lane = take(store, "ledger");
        try (Connection slow = dataSource.getConnection()) {
            slow.setAutoCommit(false);
            postrider.outbox(slow).enqueue(message("ledger", "a", 0));
            write("ledger", "b", 1);
            assertThat(numbers(read(store, lane))).containsExactly(1);
            hooks.at(1, false, () -> {
                slow.commit();
                write("ledger", "a", 2);
            });

            assertThat(numbers(read(store, lane)))
                    .as("the second of a key without the first")
                    .isEmpty();

            assertThat(hooks.disarm()).isTrue();
        }
        assertThat(numbers(read(store, lane))).containsExactly(0, 2);
    }

    @Test
    void scanOfOneLaneDoesNotRaiseTheStartOfAnother() throws SQLException {
        LaneStore store = store();
        Lane ledger = take(store, "ledger");
        Lane journal = take(store, "journal");
        assertThat(read(store, journal)).isEmpty();
        write("journal", "a", 0);
        long number = Long.parseLong(query("SELECT max(seq) FROM postrider_message"));
        for (int round = 0; floor(ledger) < number; round++) {
            assertThat(round).as("rounds until the number is proved").isLessThan(ENOUGH_ROUNDS);
            write("ledger", "a", round);
            deliver(store, read(store, ledger));
            assertThat(store.renew(Set.of(ledger), LEASE).renewed()).hasSize(1);
        }

        assertThat(numbers(read(store, journal))).containsExactly(0);
    }

    /** An operator has put an older one of the key back, so that the key is read while others of it are in flight. */
    @Test
    void whatHasItsOutcomeInTheMiddleOfAReadIsNotTakenAgain() throws SQLException {
        LaneStore store = store();
        Lane lane = take(store, "ledger");
        for (int number = 0; number < 3; number++) {
            write("ledger", "a", number);
        }
        List<LaneClaim> claims = read(store, lane);
        store.settle(List.of(
                new Outcome.Buried(claims.get(0).claim(), DeadReason.REJECTED, "no"),
                new Outcome.Retry(claims.get(1).claim(), Duration.ZERO, "busy"),
                new LaneOutcome.Blocked(claims.get(2).claim())));
        List<LaneClaim> inFlight = readTimed(store, lane);
        assertThat(numbers(inFlight)).containsExactly(1, 2);
        postrider.admin().replay(claims.get(0).claim().message().id(), "ada");
        hooks.at(1, false, () -> deliver(store, inFlight));

        List<LaneClaim> replayed = readTimed(store, lane);

        assertThat(hooks.disarm()).isTrue();
        assertThat(numbers(replayed)).containsExactly(0);
        deliver(store, replayed);
        assertThat(query("SELECT count(*) FROM postrider_message")).isEqualTo("0");
    }

    private LaneStore store() {
        postrider.migrate();
        return JdbcDatabase.open(hooks, TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .lanes();
    }

    private static Lane take(LaneStore store, String topic) {
        return store.acquire(new Lane.Request(TopicName.of(topic), "worker", 1, Lane.Supply.FREE, LEASE))
                .get(0);
    }

    private static List<LaneClaim> read(LaneStore store, Lane lane) {
        return store.read(lane.topic(), Map.of(lane, 1000), 1_000_000);
    }

    private static List<LaneClaim> readTimed(LaneStore store, Lane lane) {
        return store.readTimed(lane.topic(), Set.of(lane), 1000, 1_000_000);
    }

    private static void deliver(LaneStore store, List<LaneClaim> claims) {
        assertThat(store.settle(claims.stream()
                        .map(claim -> new Outcome.Delivered(claim.claim()))
                        .toList()))
                .noneMatch(settlement -> settlement.isLost());
    }

    private static List<Integer> numbers(List<LaneClaim> claims) {
        return claims.stream()
                .map(claim -> Integer.valueOf(claim.claim().message().payload().asText()))
                .toList();
    }

    private static Message message(String topic, String key, int number) {
        return Message.to(topic)
                .type("x")
                .key(key)
                .text(Integer.toString(number))
                .build();
    }

    private void write(String topic, String key, int number) throws SQLException {
        postrider.inTransaction(work -> work.stage(message(topic, key, number)));
    }

    private long floor(Lane lane) throws SQLException {
        return Long.parseLong(query("SELECT floor FROM postrider_lane WHERE token = '"
                + lane.lease().token() + "'"));
    }

    /** Others on the server, such as its own vacuum, may have transactions open for a moment. */
    private void awaitNothingOlderThan(Connection connection) throws SQLException {
        String transaction = query(connection, "SELECT pg_current_xact_id()");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!query("SELECT pg_snapshot_xmin(pg_current_snapshot())").equals(transaction)) {
            assertThat(System.nanoTime() - deadline)
                    .as("something older is open")
                    .isNegative();
        }
    }

    private String query(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return query(connection, sql);
        }
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            assertThat(row.next()).isTrue();
            return row.getString(1);
        }
    }
}
