package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.StatementHooks;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A message that kills its node does so at once, before anything is renewed. In this package to get at the store. */
@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
final class LostOwnerTest {

    private static final TopicName TOPIC = TopicName.of("ledger");
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final Engine engine;

    LostOwnerTest(Engine engine) {
        this.engine = engine;
    }

    @Test
    void messagesOfAnOwnerThatIsLostBeforeItsFirstRenewalAreSuspected() throws SQLException {
        DataSource dataSource = database();
        assertThat(readBy(dataSource, "first")).isZero();
        loseHolder(dataSource);

        assertThat(readBy(dataSource, "second")).isEqualTo(1);
    }

    /** What was delivered alone and took its node with it has a higher count than a mere suspect. */
    @Test
    void messageWithThreeCrashesIsNoMereSuspectAfterAnotherOwnerIsLost() throws SQLException {
        DataSource dataSource = database();
        assertThat(readBy(dataSource, "first")).isZero();
        Sql.execute(dataSource, "UPDATE postrider_message SET crashes = 4");
        loseHolder(dataSource);

        assertThat(readBy(dataSource, "second")).isEqualTo(4);
    }

    /** The server may still be at a statement whose client has given up, and finish it after the lanes were given back once. */
    @Test
    void laneThatWasTakenLongAfterItsClientGaveUpIsGivenBack() throws SQLException {
        DataSource dataSource = database();
        StatementHooks hooks = new StatementHooks(dataSource);
        UUID token = UUID.fromString("00000000-0000-4000-8000-000000000001");
        LaneStore store = store(hooks, () -> token);
        LaneStore.Node node = new LaneStore.Node(UUID.randomUUID(), "worker", Set.of(TOPIC));
        store.announce(node, LEASE);
        hooks.breakAt(1, true);
        assertThatThrownBy(() -> store.acquire(new Lane.Request(TOPIC, "worker", 1, Lane.Supply.FREE, LEASE)))
                .isInstanceOf(StoreUnavailableException.class);
        hooks.disarm();
        store.announce(node, LEASE);

        String bare = token.toString().replace("-", "");
        boolean inBytes = engine == Engine.MYSQL_8_0 || engine == Engine.MARIADB_11_4;
        Sql.execute(
                dataSource,
                "UPDATE postrider_lane SET owner = 'worker', until = '2100-01-01 00:00:00', token = "
                        + (inBytes ? "UNHEX('" + bare + "')" : "'" + token + "'"));
        store.announce(node, LEASE);

        assertThat(store(dataSource).acquire(new Lane.Request(TOPIC, "other", 1, Lane.Supply.FREE, LEASE)))
                .hasSize(1);
    }

    /** With one message in the only lane of its only topic. */
    private DataSource database() {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("lost").dataSource();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic(TOPIC.toString(), topic -> topic.ordered().lanes(1))
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work ->
                    work.stage(Message.to("ledger").type("x").key("a").text("1").build()));
        }
        return dataSource;
    }

    private static void loseHolder(DataSource dataSource) throws SQLException {
        Sql.execute(dataSource, "UPDATE postrider_lane SET until = '2020-01-01 00:00:00'");
    }

    /** Takes the lane and reads the message; answers how many nodes were lost with it. */
    private static int readBy(DataSource dataSource, String worker) throws SQLException {
        LaneStore store = store(dataSource);
        Lane lane = store.acquire(new Lane.Request(TOPIC, worker, 1, Lane.Supply.FREE, Duration.ofSeconds(30)))
                .get(0);
        List<LaneClaim> claims = store.read(TOPIC, Map.of(lane, 10), 1000);
        assertThat(claims).hasSize(1);
        return claims.get(0).claim().crashes();
    }

    private static LaneStore store(DataSource dataSource) throws SQLException {
        return store(dataSource, UUID::randomUUID);
    }

    private static LaneStore store(DataSource dataSource, Supplier<UUID> ids) throws SQLException {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .lanes(new TimeAndIds(System::nanoTime, ids));
    }
}
