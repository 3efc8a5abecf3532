package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.Repair;
import dev.postrider.admin.TopicStatus;
import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.dispatch.Topic;
import dev.postrider.event.Event;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The contract of dispatchers of ordered topics: how they share lanes, and that limits lose no message and keep the order. */
public abstract class LaneDispatchingContract extends LaneFixture {

    private static final int LANES = 8;

    private final RecordingTransport transport = new RecordingTransport();

    @Test
    void lanesOfANodeThatTakesNoneAreTakenByAnotherAfterALease() throws Exception {
        Postrider node = node(options -> options.lease(Duration.ofSeconds(6)).pollInterval(Duration.ofMillis(100)));
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

    @Test
    void destinationThatIsDownIsRarelyAskedAndGetsEverythingInOrderWhenItIsBack() throws Exception {
        AtomicBoolean down = new AtomicBoolean(true);
        transport.answering(
                delivery -> down.get() ? DeliveryResult.failed("connection refused") : DeliveryResult.delivered());
        Postrider node = node(
                declared -> declared.retry(RetryPolicy.constant(Duration.ZERO))
                        .maxAttempts(1000)
                        .maxInFlight(10)
                        .breakerFailures(10)
                        .breakerPause(Duration.ofMillis(50)),
                options -> {});
        for (int i = 0; i < 200; i++) {
            write(node, "k" + i % 20, i);
        }

        node.start();

        eventually("the circuit opens repeatedly", () -> circuitOpenings() >= 5);
        int sent = transport.deliveries().size();
        assertThat((long) sent)
                .as("until the circuit opened, those in flight, and one per half-open state")
                .isLessThanOrEqualTo(10 + 10 + circuitOpenings());

        int failed = transport.deliveries().size();
        down.set(false);
        eventually("all are delivered", () -> live() == 0);
        for (int key = 0; key < 20; key++) {
            String name = "k" + key;
            assertThat(transport.messages().stream().skip(failed).filter(message -> name.equals(message.key())))
                    .as("the first of them may have been tried before")
                    .extracting(LaneFixture::number)
                    .isSorted();
        }
    }

    @Test
    void retriedAndReplayedMessagesDoNotWaitForAPoll() throws Exception {
        AtomicBoolean down = new AtomicBoolean(true);
        transport.answering(delivery -> down.get() ? DeliveryResult.rejected("no") : DeliveryResult.delivered());
        Postrider node = node(options -> options.lease(Duration.ofMinutes(30)).pollInterval(Duration.ofMinutes(10)));
        write(node, "a", 0);
        write(node, "b", 1);
        node.start();
        eventually("both are parked", () -> states().equals(List.of("PARKED", "PARKED")));
        down.set(false);

        assertThat(node.admin().retry(TopicName.of(topic), null, "a", "ann")).isEqualTo(Repair.DONE);
        eventually("the retried one is delivered", () -> live() == 1);
        assertThat(node.admin()
                        .replay(node.admin().blockedKeys(topic, 10).get(0).head(), "ann"))
                .isEqualTo(Repair.DONE);
        eventually("the replayed one is delivered", () -> live() == 0);
    }

    @Test
    void topicThatNoLiveNodeDeliversIsReported() throws Exception {
        String unordered = topic + "-rows";
        Postrider writer = postrider(builder -> builder.topic(unordered));
        enqueue(writer, Message.to(unordered).type("thing").text("x").build());
        assertThat(status(writer, unordered).isStranded()).isTrue();

        Postrider mistaken =
                postrider(builder -> builder.topic(unordered + "-misspelt", declared -> declared.deliver(transport))
                        .listener(events::add));
        mistaken.start();

        assertThat(events).contains(new Event.NotDelivered(TopicName.of(unordered)));
        eventually(
                "its own topic is delivered",
                () -> status(writer, unordered + "-misspelt").nodes() == 1);
        assertThat(writer.admin().remove(unordered + "-misspelt", "ann")).isEqualTo(Repair.IN_USE);
        assertThat(status(writer, unordered).nodes()).isZero();

        Postrider node = postrider(builder -> builder.topic(unordered, declared -> declared.deliver(transport)));
        node.start();
        eventually("it is delivered", () -> status(writer, unordered).nodes() == 1);
        assertThat(status(writer, unordered).isStranded()).isFalse();
        node.stop();
        assertThat(status(writer, unordered).nodes()).isZero();
    }

    private static TopicStatus status(Postrider postrider, String topic) {
        return postrider.admin().status().stream()
                .filter(status -> status.topic().equals(TopicName.of(topic)))
                .findFirst()
                .orElseThrow();
    }

    private long circuitOpenings() {
        return events.stream().filter(Event.CircuitOpened.class::isInstance).count();
    }

    private Postrider node(Consumer<DispatchOptions.Builder> options) {
        return node(declared -> {}, options);
    }

    private Postrider node(Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options) {
        return postrider(builder -> builder.topic(
                        topic,
                        declared -> declaration.accept(
                                declared.ordered().lanes(LANES).deliver(transport)))
                .dispatch(options)
                .listener(events::add));
    }

    private int owned() throws Exception {
        return Integer.parseInt(query("SELECT COUNT(*) FROM postrider_lane" + ofLane() + " AND owner IS NOT NULL"));
    }
}
