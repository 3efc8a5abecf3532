package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No statement waits for a row that does not concern it. A small table is read from one end to the other rather than by its key, if the
 * database is left to choose, and on MySQL and MariaDB that waits for every row that another session has locked: for a claim that is under way,
 * or one whose connection is dead.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
final class StrangersRowTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int MESSAGES = 60;

    private final DataSource impatient;
    private final Postrider postrider;
    private final JdbcDatabase stores;

    StrangersRowTest(Engine engine) {
        Database database = Databases.assumeStarted(engine).createDatabase("stranger");
        String url = database.jdbcUrl() + (database.jdbcUrl().contains("?") ? "&" : "?");
        impatient = new Database(
                        database.name(),
                        url + "sessionVariables=innodb_lock_wait_timeout=1",
                        database.user(),
                        database.password())
                .dataSource();
        postrider = Postrider.on(impatient)
                .topic("elsewhere", topic -> {})
                .topic("plain", topic -> {})
                .topic("ordered", topic -> topic.ordered().lanes(4))
                .build();
        postrider.migrate();
        stores = JdbcDatabase.open(impatient, TableOptions.defaults(), Duration.ofSeconds(60), event -> {});
    }

    @AfterEach
    void close() {
        postrider.close();
    }

    @Test
    void claimsAreMadeExtendedAndEndedBesideALockedRow() throws SQLException {
        write("plain", MESSAGES);
        MessageStore store = postrider.store();
        try (Connection stranger = stranger()) {
            List<Claim> claims = store.claim(ClaimRequest.of("plain", "w").limit(MESSAGES));
            assertThat(claims).hasSize(MESSAGES);

            assertThat(store.extend(claims, LEASE)).noneMatch(Settlement::isLost);
            List<Outcome> outcomes = IntStream.range(0, MESSAGES)
                    .mapToObj(place -> ended(claims.get(place), place))
                    .toList();
            assertThat(store.settle(outcomes)).noneMatch(Settlement::isLost);
            stranger.rollback();
        }
    }

    private static Outcome ended(Claim claim, int place) {
        return switch (place / 15) {
            case 0 -> new Outcome.Delivered(claim);
            case 1 -> new Outcome.Retry(claim, LEASE, "later");
            case 2 -> new Outcome.Buried(claim, DeadReason.REJECTED, "never");
            default -> new Outcome.Released(claim);
        };
    }

    @Test
    void lanesAreReadAndTheirMessagesEndedBesideALockedRow() throws SQLException {
        LaneStore store = stores.lanes();
        Lane lane = take(store);
        try (Connection stranger = stranger()) {
            lock(stranger, "SELECT lane FROM postrider_lane WHERE lane <> " + lane.number() + " FOR UPDATE");
            write("ordered", MESSAGES);
            List<Claim> claims = read(store, lane);
            assertThat(claims).hasSizeBetween(6, MESSAGES - 2);

            List<LaneOutcome> outcomes = IntStream.range(0, claims.size())
                    .mapToObj(place -> endedInLane(claims.get(place), place))
                    .toList();
            assertThat(store.settle(outcomes)).noneMatch(Settlement::isLost);
            assertThat(store.renew(Set.of(lane), LEASE).renewed()).containsExactly(lane);
            stranger.rollback();
        }
    }

    /** Those of a key come in twos, the second after the first. */
    private static LaneOutcome endedInLane(Claim claim, int place) {
        boolean second = place % 2 == 1;
        return switch (place / 2 % 3) {
            case 0 -> second ? new LaneOutcome.Blocked(claim) : new Outcome.Retry(claim, LEASE, "later");
            case 1 -> new Outcome.Delivered(claim);
            default -> second ? new Outcome.Delivered(claim) : new Outcome.Buried(claim, DeadReason.REJECTED, "never");
        };
    }

    @Test
    void deadLettersArePurgedBesideALockedRow() throws SQLException {
        write("plain", MESSAGES);
        MessageStore store = postrider.store();
        List<Claim> claims = store.claim(ClaimRequest.of("plain", "w").limit(MESSAGES));
        store.settle(claims.stream()
                .map(claim -> new Outcome.Buried(claim, DeadReason.REJECTED, "never"))
                .toList());
        try (Connection stranger = stranger()) {
            assertThat(stores.retention().purgeDead(Duration.ZERO, MESSAGES)).isEqualTo(MESSAGES);
            stranger.rollback();
        }
    }

    private static Lane take(LaneStore store) {
        return store.acquire(new Lane.Request(TopicName.of("ordered"), "worker", 1, Lane.Supply.FREE, LEASE))
                .get(0);
    }

    private static List<Claim> read(LaneStore store, Lane lane) {
        return store.read(lane.topic(), Map.of(lane, 1000), 1_000_000).stream()
                .map(LaneClaim::claim)
                .toList();
    }

    /** Two of each key. */
    private void write(String topic, int count) throws SQLException {
        postrider.inTransaction(work -> IntStream.range(0, count)
                .forEach(place -> work.stage(Message.to(topic)
                        .type("x")
                        .key("k" + place / 2)
                        .text("y")
                        .build())));
    }

    /** A session that has locked a message of another topic and does not end. */
    private Connection stranger() throws SQLException {
        write("elsewhere", 1);
        Connection connection = impatient.getConnection();
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        lock(connection, "SELECT seq FROM postrider_message ORDER BY seq DESC LIMIT 1 FOR UPDATE");
        return connection;
    }

    private static void lock(Connection connection, String select) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            assertThat(statement.executeQuery(select).next()).isTrue();
        }
    }
}
