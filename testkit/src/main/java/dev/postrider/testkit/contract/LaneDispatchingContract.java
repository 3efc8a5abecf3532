package dev.postrider.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.LaneStore;
import dev.postrider.testkit.RecordingTransport;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Dispatchers of ordered topics: how they share lanes, and that limits cost neither messages nor order. */
public abstract class LaneDispatchingContract extends LaneFixture {

    private static final int LANES = 8;

    private final RecordingTransport transport = new RecordingTransport();

    @Test
    void lanesOfANodeThatTakesNoneAreTakenByAnotherAfterALease() throws Exception {
        Postrider node = node(options -> options.lease(Duration.ofSeconds(1)).pollInterval(Duration.ofMillis(100)));
        store().announce(
                        new LaneStore.Node(UUID.randomUUID(), "idle", Set.of(TopicName.of(topic))),
                        Duration.ofHours(1));
        for (int i = 0; i < 40; i++) {
            write(node, "k" + i, i);
        }

        node.start();

        eventually("its share", () -> owned() == LANES / 2);
        eventually("and what is left over", () -> owned() == LANES);
        eventually("all are delivered", () -> live() == 0);
        assertThat(transport.messages()).hasSize(40);
    }

    @Test
    void messagesLargerThanTheBudgetAreDeliveredOneAfterTheOtherWithoutWaitingForAPoll() throws Exception {
        Postrider node = node(options ->
                options.maxInFlightBytes(500).lease(Duration.ofMinutes(15)).pollInterval(Duration.ofMinutes(5)));
        for (int i = 0; i < 30; i++) {
            enqueue(
                    node,
                    message()
                            .key("k" + i % 3)
                            .json("{\"n\":" + i + "}" + " ".repeat(600))
                            .build());
        }

        node.start();

        eventually("all are delivered", () -> live() == 0);
        for (int key = 0; key < 3; key++) {
            String name = "k" + key;
            List<Message> ofKey = transport.messages().stream()
                    .filter(message -> name.equals(message.key()))
                    .toList();
            assertThat(ofKey).hasSize(10).extracting(LaneFixture::number).isSorted();
        }
    }

    private Postrider node(Consumer<DispatchOptions.Builder> options) {
        return postrider(builder -> builder.topic(
                        topic, declared -> declared.ordered().lanes(LANES).deliver(transport))
                .dispatch(options)
                .listener(events::add));
    }

    private int owned() throws Exception {
        return Integer.parseInt(query("SELECT COUNT(*) FROM postrider_lane" + ofLane() + " AND owner IS NOT NULL"));
    }
}
