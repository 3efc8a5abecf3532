package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;

/** The common parts of the lane contracts. A node is only a store without threads, so a test controls the order of all steps. */
abstract class LaneFixture extends DatabaseContract {

    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration LONGER_THAN_A_LEASE = Duration.ofSeconds(31);
    static final Duration SOON = Duration.ofSeconds(60);

    /** InnoDB caches its table of transactions, and refreshes it only when the last query is at least 0.1 s old. */
    private static final Duration INNODB_CACHE_TIME = Duration.ofMillis(150);

    private static final int MANY = 100;
    private static final long MUCH = 1024 * 1024;

    final Queue<Event> events = new ConcurrentLinkedQueue<>();

    /** A node that owns one lane. */
    record Holder(LaneStore store, Lane lane) {

        List<LaneClaim> read() {
            return read(MANY, MUCH);
        }

        List<LaneClaim> read(int room, long bytes) {
            return readable(store.read(lane.topic(), Map.of(lane, room), bytes));
        }

        List<LaneClaim> timed() {
            return readable(store.readTimed(lane.topic(), Set.of(lane), MANY, MUCH));
        }

        /** Buries the unreadable messages, as a node does whose topic continues past failures, and returns the others. */
        private List<LaneClaim> readable(List<LaneClaim> claims) {
            List<LaneClaim> others = new ArrayList<>();
            List<LaneOutcome> buried = new ArrayList<>();
            for (LaneClaim claim : claims) {
                String problem = claim.unreadable();
                if (problem == null) {
                    others.add(claim);
                } else {
                    buried.add(new Outcome.Buried(claim.claim(), DeadReason.UNREADABLE, problem));
                }
            }
            assertThat(store.settle(buried)).allMatch(Settlement.Settled.class::isInstance);
            return others;
        }

        List<Settlement> settle(LaneOutcome... outcomes) {
            return store.settle(List.of(outcomes));
        }

        List<Settlement> deliver(Collection<LaneClaim> claims) {
            return store.settle(claims.stream()
                    .map(claim -> new Outcome.Delivered(claim.claim()))
                    .toList());
        }

        boolean renew() {
            return store.renew(Set.of(lane), LEASE).renewed().contains(lane);
        }
    }

    /** After every test, the first waiting row of each key must be a head. Otherwise no node would ever deliver the key. */
    @AfterEach
    final void everyBlockedKeyHasAHead() throws SQLException {
        Set<String> seen = new HashSet<>();
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT topic_id, tenant, ordering_key, state, seq FROM postrider_message"
                                + " WHERE state IN ('RETRY', 'BLOCKED', 'PARKED') AND topic LIKE '" + topic
                                + "%' ORDER BY seq")) {
            while (rows.next()) {
                String key = rows.getString(1) + "/" + rows.getString(2) + "/" + rows.getString(3);
                if (seen.add(key)) {
                    assertThat(rows.getString(4))
                            .as("the first that waits in %s", key)
                            .isIn("RETRY", "PARKED");
                }
            }
        }
    }

    /** Declares the topic with one lane. */
    final Postrider ordered() {
        return ordered(topic);
    }

    final Postrider ordered(String... topics) {
        return postrider(builder -> {
            Arrays.stream(topics)
                    .forEach(name ->
                            builder.topic(name, declared -> declared.ordered().lanes(1)));
            return builder;
        });
    }

    /** Opens a store, as another process would. */
    final LaneStore store() {
        return store(dataSource());
    }

    final LaneStore store(DataSource source) {
        return JdbcDatabase.open(source, TableOptions.defaults(), SOON, events::add)
                .lanes();
    }

    final Holder holder() {
        return take(store(), topic);
    }

    final Holder take(LaneStore store, String topic) {
        List<Lane> lanes = store.acquire(request(topic, Lane.Supply.FREE));
        assertThat(lanes).as("the lane of %s", topic).hasSize(1);
        return new Holder(store, lanes.get(0));
    }

    /** Another node takes over the lane of a lost node. */
    final Holder takeOver() {
        advance(LONGER_THAN_A_LEASE);
        return holder();
    }

    static Lane.Request request(String topic, Lane.Supply supply) {
        return new Lane.Request(TopicName.of(topic), "worker", MANY, supply, LEASE);
    }

    final Message.Builder ordered(String key, int number) {
        return message().key(key).json("{\"n\":" + number + "}");
    }

    /** Writes numbered messages of one key in one transaction. */
    final void write(Postrider postrider, String key, int... numbers) throws SQLException {
        try (Connection connection = transaction()) {
            write(postrider, connection, key, numbers);
            connection.commit();
        }
    }

    /** Writes messages in a transaction that stays open: they have their row numbers, and other transactions do not see them. */
    final void write(Postrider postrider, Connection connection, String key, int... numbers) {
        postrider
                .outbox(connection)
                .enqueueAll(Arrays.stream(numbers)
                        .mapToObj(number -> ordered(key, number).build())
                        .toList());
    }

    static int number(Message message) {
        String json = message.payload().asText();
        return Integer.parseInt(json.substring(5, json.indexOf('}')).replace("\"", ""));
    }

    static List<Integer> numbers(Collection<LaneClaim> claims) {
        return claims.stream().map(claim -> number(claim.claim().message())).toList();
    }

    static LaneOutcome delivered(LaneClaim claim) {
        return new Outcome.Delivered(claim.claim());
    }

    static LaneOutcome retry(LaneClaim claim) {
        return new Outcome.Retry(claim.claim(), Duration.ofMinutes(10), "busy");
    }

    /** A retry that is due at once. */
    static LaneOutcome retryAtOnce(LaneClaim claim) {
        return new Outcome.Retry(claim.claim(), Duration.ZERO, "busy");
    }

    static LaneOutcome blocked(LaneClaim claim) {
        return new LaneOutcome.Blocked(claim.claim());
    }

    static LaneOutcome released(LaneClaim claim) {
        return new Outcome.Released(claim.claim());
    }

    static boolean keyBlocked(Settlement settlement) {
        assertThat(settlement).isInstanceOf(Settlement.Settled.class);
        return settlement instanceof Settlement.Settled settled && settled.keyBlocked();
    }

    static Settlement lost(LaneClaim claim) {
        return new Settlement.LeaseLost(claim.claim(), false);
    }

    static Settlement gone(LaneClaim claim) {
        return new Settlement.LeaseLost(claim.claim(), true);
    }

    static Claim claim(Settlement settlement) {
        return settlement.claim();
    }

    /** The states of the topic's messages, in the order of their row numbers. */
    final List<String> states() throws SQLException {
        return list("SELECT state FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq");
    }

    final List<String> attempts() throws SQLException {
        return list("SELECT attempts FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq");
    }

    final String ofLane() {
        return " WHERE topic_id = (SELECT id FROM postrider_topic WHERE topic = '" + topic + "')";
    }

    final void lockLane(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT lane FROM postrider_lane" + ofLane() + " FOR UPDATE");
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Waits until a transaction of this database waits for a lock. The given call must not end before that. */
    final void awaitLockWait(CompletableFuture<?> waiter) throws Exception {
        String waiting = product().equals("PostgreSQL")
                ? "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
                : "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
        eventually("a transaction waits for a lock", INNODB_CACHE_TIME, () -> {
            assertThat(waiter).as("must wait for the lock").isNotDone();
            return !query(waiting).equals("0");
        });
    }

    final String anotherToken() throws SQLException {
        return switch (product()) {
            case "PostgreSQL" -> "gen_random_uuid()";
            case "H2" -> "RANDOM_UUID()";
            default -> "UNHEX('00000000000000000000000000000001')";
        };
    }

    final long foundLate() {
        return events.stream().filter(Event.FoundLate.class::isInstance).count();
    }

    static void eventually(String what, Callable<Boolean> condition) throws Exception {
        eventually(what, Duration.ofMillis(10), condition);
    }

    private static void eventually(String what, Duration pause, Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + SOON.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).as(what).isNegative();
            assertThat(breath.await(pause.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
