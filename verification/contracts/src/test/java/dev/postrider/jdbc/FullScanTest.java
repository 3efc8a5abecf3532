package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A message that is where nothing should be can only be late: once a minute a lane is read from its beginning. In this package to
 * get at the clock.
 */
final class FullScanTest {

    private static final TopicName TOPIC = TopicName.of("ledger");
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final AtomicLong nanos = new AtomicLong(-1);
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @EnumSource
    void messageBelowTheStartIsFoundByTheNextFullScanAndReported(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("late").dataSource();
        try (Postrider postrider = postrider(dataSource)) {
            write(postrider, 0);
            Sql.execute(dataSource, "UPDATE postrider_lane SET floor = 1000000"); // wrong, by whatever cause
            LaneStore store = store(dataSource);
            Lane lane = store.acquire(new Lane.Request(TOPIC, "worker", 1, Lane.Supply.FREE, LEASE))
                    .get(0);
            nanos.addAndGet(Duration.ofSeconds(59).toNanos());
            assertThat(read(store, lane)).as("an ordinary look").isEmpty();
            assertThat(store.nextDue(List.of(lane))).as("an ordinary poll").isEmpty();
            assertThat(events).isEmpty();

            nanos.addAndGet(Duration.ofSeconds(2).toNanos());
            assertThat(store.nextDue(List.of(lane)))
                    .as("or a quiet lane is not read")
                    .containsKey(TOPIC);
            List<LaneClaim> found = read(store, lane);

            assertThat(found).hasSize(1);
            assertThat(events).containsExactly(new Event.FoundLate(TOPIC, 1));
            nanos.addAndGet(Duration.ofSeconds(61).toNanos());
            assertThat(read(store, lane)).as("in flight").isEmpty();
            store.settle(List.of(new Outcome.Released(found.get(0).claim())));
            List<LaneClaim> again = read(store, lane);
            assertThat(again).as("put back, it is no longer late").hasSize(1);
            assertThat(store.settle(List.of(new Outcome.Delivered(again.get(0).claim()))))
                    .noneMatch(settlement -> settlement.isLost());
            assertThat(events).hasSize(1);
        }
    }

    private static List<LaneClaim> read(LaneStore store, Lane lane) {
        return store.read(TOPIC, Map.of(lane, 10), 1000);
    }

    private static Postrider postrider(DataSource dataSource) {
        Postrider postrider = Postrider.on(dataSource)
                .topic(TOPIC.toString(), topic -> topic.ordered().lanes(1))
                .build();
        postrider.migrate();
        return postrider;
    }

    private static void write(Postrider postrider, int number) throws SQLException {
        postrider.inTransaction(work -> {
            work.stage(Message.to(TOPIC.toString())
                    .type("x")
                    .key("a")
                    .text(Integer.toString(number))
                    .build());
        });
    }

    private LaneStore store(DataSource dataSource) {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), Duration.ofSeconds(60), events::add)
                .lanes(new TimeAndIds(nanos::get, UUID::randomUUID));
    }
}
