package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.testkit.database.Standby;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Where reading a lane begins on PostgreSQL: it rises with what is proved, never above what may still appear. */
final class LaneHorizonTest {

    private static final String TOPIC = "ledger";
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final int ENOUGH_ROUNDS = 200;
    private static final String WAITING =
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'postrider_topic'::regclass";

    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @Test
    void startRisesAboveWhatIsDeliveredWhenNothingIsOpen() throws SQLException {
        Site site = site();

        site.roundsUntilFloorIsAbove(site.write(0));
    }

    @Test
    void snapshotThatAnotherSessionHoldsDoesNotStopTheStart() throws SQLException {
        Site site = site();
        try (Connection reader = site.database.dataSource().getConnection()) {
            reader.setAutoCommit(false);
            reader.setReadOnly(true);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            query(reader, "SELECT count(*) FROM postrider_message");

            site.roundsUntilFloorIsAbove(site.write(0));

            reader.rollback();
        }
    }

    @Test
    void openTransactionThatWritesStopsTheStartBelowItsNumber() throws SQLException {
        Site site = site();
        site.roundsUntilFloorIsAbove(site.write(0));
        try (Connection writer = site.database.dataSource().getConnection()) {
            writer.setAutoCommit(false);
            site.postrider.outbox(writer).enqueue(message(1));
            long open = Long.parseLong(query(writer, "SELECT max(seq) FROM postrider_message"));
            for (int round = 2; round < 12; round++) {
                site.write(round);
                site.round();
                assertThat(site.floor()).isLessThan(open);
            }
            writer.commit();
            assertThat(site.round()).containsExactly(1);
            site.roundsUntilFloorIsAbove(open);
        }
        assertThat(events).noneMatch(Event.FoundLate.class::isInstance);
    }

    @Test
    void floorStaysBelowMessagesInFlightHoweverFarTheLaneIsRead() throws SQLException {
        Site site = site();
        long inFlight = site.write(0);
        assertThat(numbers(site.read())).containsExactly(0);
        for (int round = 1; round < 12; round++) {
            site.write(round);
            assertThat(site.round()).containsExactly(round);
            assertThat(site.floor()).isLessThan(inFlight);
        }
        site.store.release(Set.of(site.lane));
        site.take();

        assertThat(numbers(site.read())).containsExactly(0);
    }

    @Test
    void firstMessageOfAFreshDatabaseIsReadAlthoughItsNodeCameEarlier() throws SQLException {
        Site site = site();
        for (int round = 0; round < 5; round++) {
            assertThat(site.round()).isEmpty();
        }

        site.write(0);

        assertThat(site.round()).containsExactly(0);
        assertThat(events).noneMatch(Event.FoundLate.class::isInstance);
    }

    @Test
    void renewalThatMeetsNoLaneProvesNothing() throws SQLException {
        Site site = site();
        site.write(0);
        site.round();
        try (Connection slow = site.database.dataSource().getConnection()) {
            slow.setAutoCommit(false);
            site.postrider.outbox(slow).enqueue(message(1));
            assertThat(site.read()).isEmpty();
            site.execute("UPDATE postrider_lane SET owner = NULL, token = NULL, until = clock_timestamp()");
            assertThat(site.store.renew(Set.of(site.lane), LEASE).renewed()).isEmpty();
            site.take();
            assertThat(site.read()).isEmpty();
            assertThat(site.read()).isEmpty();
            slow.commit();
        }

        assertThat(numbers(site.read())).containsExactly(1);
    }

    @Test
    void messageThatIsPutBackDuringAReadIsReadByTheNextOne() throws Exception {
        Site site = site();
        long number = site.write(0);
        List<LaneClaim> inFlight = site.read();
        for (int round = 1; round < 10; round++) {
            site.write(round);
            site.round();
        }
        CompletableFuture<List<LaneClaim>> reading;
        try (Connection obstacle = site.database.dataSource().getConnection()) {
            obstacle.setAutoCommit(false);
            try (Statement statement = obstacle.createStatement()) {
                statement.execute("LOCK TABLE postrider_topic IN ACCESS EXCLUSIVE MODE");
            }
            reading = CompletableFuture.supplyAsync(site::read);
            while (query(obstacle, WAITING).equals("0")) {
                assertThat(reading).as("must wait for the lock").isNotDone();
            }
            site.store.settle(List.of(new Outcome.Released(inFlight.get(0).claim())));
            obstacle.commit();
        }
        assertThat(reading.get(60, TimeUnit.SECONDS))
                .as("it left out what was in flight")
                .isEmpty();

        assertThat(site.read()).extracting(claim -> claim.claim().seq()).containsExactly(number);
    }

    @Test
    void numbersDrawnBeforeACrashOfTheDatabaseMayComeAgainAndNothingIsLost() throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            Site site = new Site(server.createDatabase("lanes"));
            for (int i = 0; i < 3; i++) {
                site.write(i);
                site.round();
            }
            site.write(3);
            List<LaneClaim> inFlight = site.read();
            long drawn;
            try (Connection lost = site.database.dataSource().getConnection()) {
                lost.setAutoCommit(false);
                for (int i = 0; i < 200; i++) {
                    site.postrider.outbox(lost).enqueue(message(1000 + i));
                }
                assertThat(site.read()).isEmpty();
                drawn = Long.parseLong(query(lost, "SELECT last_value FROM postrider_message_seq"));
                server.crash();
            } catch (SQLException e) {
                drawn = 0; // closing the dead connection
            }
            server.restart();
            long first = site.write(4);
            site.write(5);
            System.out.println("numbers drawn up to " + drawn + " before the crash, the next after it is " + first);

            assertThat(numbers(site.read())).containsExactly(4, 5);
            assertThat(site.store.settle(outcomes(inFlight))).noneMatch(settlement -> settlement.isLost());
            assertThat(site.count("postrider_message")).isEqualTo(2);
            assertThat(events).noneMatch(Event.FoundLate.class::isInstance);
            site.postrider.close();
        }
    }

    @Test
    void whatOneServerShowedIsNotStoredOnAnother() throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            Site site = new Site(server.createDatabase("lanes"));
            site.roundsUntilFloorIsAbove(site.write(0));
            long stored = site.floor();
            long last = site.write(1);
            site.write(2);
            for (int i = 0; i < 5; i++) {
                site.store.settle(outcomes(site.read().stream().limit(1).toList()));
                site.write(3 + i);
            }

            server.restart(); // for all the store knows, this is a standby that lacks the last messages
            assertThat(site.store.renew(Set.of(site.lane), LEASE).renewed()).hasSize(1);

            assertThat(site.floor()).isEqualTo(stored);
            site.roundsUntilFloorIsAbove(last);
            site.postrider.close();
        }
    }

    @Test
    void laneOfAServerThatLacksTheLastCommitsIsReadFromWhereThatOneSays() throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            Site site = new Site(server.createDatabase("lanes"));
            site.roundsUntilFloorIsAbove(site.write(0));
            site.write(1);
            long lost;
            try (Standby standby = Standby.of(server)) {
                standby.loseTouch();
                for (int number = 2; number < 60; number++) {
                    site.write(number);
                    site.round();
                }
                lost = site.write(60);
                site.roundsUntilFloorIsAbove(lost);
                server.crash();
                standby.promote();
                standby.takePlace();
            }
            server.restart();
            assertThat(site.write(61)).as("a number that was given before").isLessThan(lost);

            assertThat(site.round()).containsExactly(1, 61);

            assertThat(site.floor()).isLessThan(lost);
            assertThat(site.count("postrider_message")).isZero();
            assertThat(events).noneMatch(Event.FoundLate.class::isInstance);
            site.postrider.close();
        }
    }

    // Helpers

    private Site site() throws SQLException {
        Site site = new Site(Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("lanes"));
        opened.add(site.postrider);
        return site;
    }

    private static Message message(int number) {
        return Message.to(TOPIC)
                .type("x")
                .key("k" + number % 3)
                .text(Integer.toString(number))
                .build();
    }

    private static List<Integer> numbers(List<LaneClaim> claims) {
        return claims.stream()
                .map(claim -> Integer.valueOf(claim.claim().message().payload().asText()))
                .toList();
    }

    private static List<Outcome> outcomes(List<LaneClaim> claims) {
        return claims.stream()
                .<Outcome>map(claim -> new Outcome.Delivered(claim.claim()))
                .toList();
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    /** A database and a node that holds the only lane of its only topic. */
    private final class Site {

        final Database database;
        final Postrider postrider;
        final LaneStore store;
        Lane lane;

        Site(Database database) {
            this.database = database;
            postrider = Postrider.on(database.dataSource())
                    .topic(TOPIC, topic -> topic.ordered().lanes(1))
                    .build();
            postrider.migrate();
            store = JdbcDatabase.open(
                            database.dataSource(), TableOptions.defaults(), Duration.ofSeconds(60), events::add)
                    .lanes();
            lane = acquire();
        }

        void take() {
            lane = acquire();
        }

        private Lane acquire() {
            return store.acquire(new Lane.Request(TopicName.of(TOPIC), "worker", 1, Lane.Supply.FREE, LEASE))
                    .get(0);
        }

        /** Answers the message's number in the database. */
        long write(int number) throws SQLException {
            postrider.inTransaction(work -> {
                work.stage(message(number));
            });
            return Long.parseLong(query("SELECT max(seq) FROM postrider_message"));
        }

        List<LaneClaim> read() {
            return store.read(lane.topic(), Map.of(lane, 1000), 1_000_000);
        }

        /** Reads, delivers, renews; answers what was read. */
        List<Integer> round() {
            List<LaneClaim> claims = read();
            store.settle(outcomes(claims));
            assertThat(store.renew(Set.of(lane), LEASE).renewed()).hasSize(1);
            return numbers(claims);
        }

        /** Others on the server, such as its own vacuum, may have transactions open for a moment. */
        void roundsUntilFloorIsAbove(long number) throws SQLException {
            for (int round = 0; floor() < number; round++) {
                assertThat(round)
                        .as("rounds until the start is above %s", number)
                        .isLessThan(ENOUGH_ROUNDS);
                round();
            }
        }

        long floor() throws SQLException {
            return Long.parseLong(query("SELECT floor FROM postrider_lane"));
        }

        long count(String table) throws SQLException {
            return Long.parseLong(query("SELECT count(*) FROM " + table));
        }

        private String query(String sql) throws SQLException {
            try (Connection connection = database.dataSource().getConnection()) {
                return LaneHorizonTest.query(connection, sql);
            }
        }

        void execute(String sql) throws SQLException {
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }
    }
}
