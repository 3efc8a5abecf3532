package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.StatementHooks;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A node that stands still in the middle of writing outcomes, which is a transaction of several statements on MySQL and MariaDB, loses its lanes
 * as any other: the server ends its transaction, and with it the locks on them.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class FrozenOwnerTest {

    private static final Duration LEASE = Duration.ofSeconds(4);

    /** The server waits half as long for the next statement: long enough for a busy machine, shorter than the lease. */
    private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(6);

    private static final TopicName TOPIC = TopicName.of("ordered");

    private final StatementHooks hooks;
    private final Postrider postrider;
    private final LaneStore frozen;
    private final LaneStore other;

    FrozenOwnerTest(Engine engine) {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("frozen").dataSource();
        hooks = new StatementHooks(dataSource);
        postrider = Postrider.on(dataSource)
                .topic("ordered", topic -> topic.ordered().lanes(1))
                .build();
        postrider.migrate();
        frozen = store(hooks);
        other = store(dataSource);
    }

    private static LaneStore store(DataSource dataSource) {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), STATEMENT_TIMEOUT, event -> {})
                .lanes();
    }

    @AfterEach
    void close() {
        postrider.close();
    }

    @Test
    void laneOfANodeThatStandsStillInTheMiddleOfAnOutcomeIsTaken() throws Exception {
        Lane lane = take(frozen, "frozen").get(0);
        postrider.inTransaction(work ->
                work.stage(Message.to("ordered").type("x").key("k").text("y").build()));
        List<LaneClaim> claims = frozen.read(TOPIC, Map.of(lane, 10), 1_000_000);
        assertThat(claims).hasSize(1);
        // The limit, the lock on the lane, the message; what would come next removes it
        hooks.at(3, false, () -> {
            List<Lane> taken = List.of();
            while (taken.isEmpty()) {
                taken = take(other, "other");
                Thread.sleep(20);
            }
            assertThat(other.read(TOPIC, Map.of(taken.get(0), 10), 1_000_000)).hasSize(1);
        });

        List<Outcome> delivered = List.of(new Outcome.Delivered(claims.get(0).claim()));
        assertThatThrownBy(() -> frozen.settle(delivered)).isInstanceOf(StoreUnavailableException.class);

        assertThat(hooks.disarm()).isTrue();
        assertThat(frozen.settle(delivered)).singleElement().matches(Settlement::isLost);
    }

    private static List<Lane> take(LaneStore store, String worker) {
        return store.acquire(new Lane.Request(TOPIC, worker, 1, Lane.Supply.FREE, LEASE));
    }
}
