package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Repair;
import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * The contract of ordered topics: one key in sequence, different keys in parallel, and the behaviour of a key whose first message
 * fails.
 */
public abstract class OrderingContract extends DatabaseContract {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final RetryPolicy AT_ONCE = RetryPolicy.constant(Duration.ZERO);
    private static final RetryPolicy IN_AN_HOUR = RetryPolicy.constant(Duration.ofHours(1));

    private final RecordingTransport transport = new RecordingTransport();
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();

    @Test
    void messagesOfAKeyAreDeliveredInTheOrderTheyWereWritten() throws Exception {
        Postrider first = node();
        Postrider second = node();
        for (int round = 0; round < 20; round++) {
            write(first, round, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j");
        }

        first.start();
        if (isConcurrent()) {
            second.start();
        }

        eventually("all are delivered", () -> live() == 0);
        assertThat(transport.deliveries()).hasSize(200);
        for (String key : "abcdefghij".split("")) {
            assertThat(delivered(key)).isEqualTo(numbers(20));
        }
        assertThat(archived()).isEqualTo(200);
    }

    @Test
    void nextMessageOfAKeyIsSentWhenTheOneBeforeHasItsAnswer() throws Exception {
        Queue<CompletableFuture<DeliveryResult>> answers = answeringByHand();
        Postrider node = node(topic -> topic.lanes(1));
        write(node, 0, "a", "b");
        write(node, 1, "a", "b");

        node.start();

        eventually("one of each key is sent", () -> transport.deliveries().size() == 2);
        assertThat(delivered("a")).isEqualTo(numbers(1));
        assertThat(delivered("b")).isEqualTo(numbers(1));
        never(
                "a second one",
                Duration.ofMillis(300),
                () -> transport.deliveries().size() > 2);

        answers.remove().complete(DeliveryResult.delivered());

        eventually("the key goes on", () -> delivered("a").equals(numbers(2)));
        assertThat(delivered("b")).isEqualTo(numbers(1));
        answers.forEach(answer -> answer.complete(DeliveryResult.delivered()));
        eventually("the last is sent", () -> transport.deliveries().size() == 4);
        answers.forEach(answer -> answer.complete(DeliveryResult.delivered()));
        eventually("all are delivered", () -> live() == 0);
    }

    @Test
    void failedHeadHoldsItsKeyAndNoOther() throws Exception {
        transport.answering(delivery -> is(delivery, "a", 0) && delivery.attempt() == 1
                ? DeliveryResult.failed("busy")
                : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.lanes(1).retry(IN_AN_HOUR));
        write(node, 0, "a", "b");
        write(node, 1, "a", "b");
        write(node, 2, "a", "b");

        node.start();

        eventually("the other key is delivered", () -> delivered("b").equals(numbers(3)));
        eventually("the key is blocked", () -> states("a").equals(List.of("RETRY", "BLOCKED", "BLOCKED")));
        write(node, 3, "a", "b");
        eventually(
                "a later message waits",
                () -> states("a").size() == 4 && states("a").get(3).equals("BLOCKED"));
        assertThat(delivered("a")).isEqualTo(numbers(1));

        advance(Duration.ofMinutes(61));

        eventually("the key goes on", () -> live() == 0);
        assertThat(delivered("a")).isEqualTo(List.of(0, 0, 1, 2, 3));
        assertThat(delivered("b")).isEqualTo(numbers(4));
        write(node, 4, "a");
        eventually("the key is not blocked", () -> live() == 0);
    }

    @Test
    void headThatFailsAgainIsTriedAgainBeforeWhatIsBehindIt() throws Exception {
        transport.answering(delivery -> is(delivery, "a", 1) && delivery.attempt() < 4
                ? DeliveryResult.failed("busy")
                : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.lanes(1).retry(AT_ONCE));
        for (int i = 0; i < 200; i++) {
            write(node, i, "a");
        }

        node.start();

        eventually("all are delivered", () -> live() == 0);
        List<Integer> expected = new ArrayList<>(numbers(200));
        expected.addAll(1, List.of(1, 1, 1));
        assertThat(transport.deliveries().stream().filter(d -> number(d.message()) == 1))
                .extracting(Delivery::attempt)
                .containsExactly(1, 2, 3, 4);
        assertThat(delivered("a")).isEqualTo(expected);
    }

    @Test
    void skippedMessageIsRetriedWhileItsKeyGoesOn() throws Exception {
        transport.answering(delivery -> is(delivery, "a", 0) && delivery.attempt() == 1
                ? DeliveryResult.failed("busy")
                : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR).onFailure(FailurePolicy.CONTINUE));
        write(node, 0, "a");
        write(node, 1, "a");

        node.start();

        eventually("the key goes on", () -> states("a").equals(List.of("SCHEDULED")));
        assertThat(delivered("a")).isEqualTo(List.of(0, 1));

        advance(Duration.ofMinutes(61));

        eventually("it is delivered", () -> live() == 0);
        assertThat(delivered("a")).isEqualTo(List.of(0, 1, 0));
    }

    @Test
    void skippedMessageThatHasUsedUpItsAttemptsIsADeadLetterAndHoldsNothing() throws Exception {
        transport.answering(
                delivery -> is(delivery, "a", 0) ? DeliveryResult.failed("never") : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.maxAttempts(2).retry(IN_AN_HOUR).onFailure(FailurePolicy.CONTINUE));
        write(node, 0, "a");
        write(node, 1, "a");
        node.start();
        eventually("the key goes on", () -> states("a").equals(List.of("SCHEDULED")));
        assertThat(node.admin().blockedKeys(topic, 10)).isEmpty();

        advance(Duration.ofMinutes(61));

        eventually("it is dead", () -> states("a").equals(List.of("DEAD")));
        assertThat(reason("a")).isEqualTo("ATTEMPTS_EXHAUSTED");
        assertThat(node.admin().blockedKeys(topic, 10)).isEmpty();
    }

    @Test
    void headThatIsStillRetriedIsNoDeadLetterAndAParkedOneMayBeReplayed() throws Exception {
        transport.answering(
                delivery -> is(delivery, "a", 0) ? DeliveryResult.failed("not yet") : DeliveryResult.rejected("never"));
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR));
        write(node, 0, "a", "b");
        node.start();
        eventually(
                "both are blocked",
                () -> states("a").equals(List.of("RETRY")) && states("b").equals(List.of("PARKED")));
        MessageId retried = node.admin().blockedKeys(topic, 10).stream()
                .filter(held -> held.key().equals("a"))
                .findFirst()
                .orElseThrow()
                .head();
        MessageId parked = node.admin().blockedKeys(topic, 10).stream()
                .filter(BlockedKey::isParked)
                .findFirst()
                .orElseThrow()
                .head();

        assertThat(node.admin().discard(retried, "ann")).isEqualTo(Repair.WRONG_STATE);
        assertThat(node.admin().replay(retried, "ann")).isEqualTo(Repair.WRONG_STATE);
        transport.answering(delivery -> DeliveryResult.delivered());
        assertThat(node.admin().replay(parked, "ann")).isEqualTo(Repair.DONE);

        eventually("it is delivered", () -> states("b").isEmpty());
    }

    @Test
    void parkedKeyWaitsForAnOperator() throws Exception {
        transport.answering(delivery -> DeliveryResult.failed("busy"));
        Postrider node = node(topic -> topic.retry(AT_ONCE).onFailure(FailurePolicy.PARK));
        write(node, 0, "a");
        write(node, 1, "a");

        node.start();

        eventually("the key is parked", () -> states("a").equals(List.of("PARKED", "BLOCKED")));
        advance(Duration.ofDays(400));
        never(
                "another attempt",
                Duration.ofMillis(300),
                () -> transport.deliveries().size() > 1);
        assertThat(reason("a")).isEqualTo("FAILED");
    }

    @Test
    void keyIsBlockedBehindADeadLetterUnlessItContinues() throws Exception {
        transport.answering(delivery ->
                number(delivery.message()) == 0 ? DeliveryResult.rejected("no") : DeliveryResult.delivered());
        Postrider holding = node();
        write(holding, 0, "a");
        write(holding, 1, "a");

        holding.start();

        eventually("the key is blocked", () -> states("a").equals(List.of("PARKED", "BLOCKED")));
        assertThat(reason("a")).isEqualTo("REJECTED");
        assertThat(delivered("a")).isEqualTo(numbers(1));
    }

    @Test
    void keyGoesOnBehindADeadLetterWhenItIsTold() throws Exception {
        transport.answering(
                delivery -> number(delivery.message()) == 0 ? DeliveryResult.failed("no") : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.retry(AT_ONCE).maxAttempts(2).blockAfterDeadLetter(false));
        write(node, 0, "a");
        write(node, 1, "a");
        write(node, 2, "a");

        node.start();

        eventually("the key goes on", () -> states("a").equals(List.of("DEAD")));
        assertThat(delivered("a")).isEqualTo(List.of(0, 0, 1, 2));
        assertThat(reason("a")).isEqualTo("ATTEMPTS_EXHAUSTED");
    }

    @Test
    void scheduledMessageWaitsBesideTheOrder() throws Exception {
        Postrider node = node();
        enqueue(
                node,
                ordered("a", 0)
                        .deliverAt(Instant.now().plus(Duration.ofHours(1)))
                        .build());
        write(node, 1, "a");

        node.start();

        eventually("the order goes on", () -> delivered("a").equals(List.of(1)));
        eventually("it waits", () -> states("a").equals(List.of("SCHEDULED")));
        advance(Duration.ofMinutes(61));
        eventually("it is delivered", () -> live() == 0);
        assertThat(delivered("a")).isEqualTo(List.of(1, 0));
    }

    @Test
    void pausedTopicIsNotRead() throws Exception {
        Postrider node = node();
        write(node, 0, "a");
        node.admin().pause(topic, "test");

        node.start();

        never(
                "a delivery",
                Duration.ofMillis(300),
                () -> !transport.deliveries().isEmpty());
        node.admin().resume(topic, "test");
        eventually("it is delivered", () -> live() == 0);
    }

    @Test
    void stoppedNodeGivesItsLanesToOthersAtOnce() throws Exception {
        Postrider first = node();
        write(first, 0, "a", "b", "c");
        first.start();
        eventually("all are delivered", () -> live() == 0);

        first.stop();

        assertThat(query(
                        "SELECT COUNT(*) FROM postrider_lane l JOIN postrider_topic t ON t.id = l.topic_id WHERE t.topic = '"
                                + topic + "' AND l.owner IS NOT NULL"))
                .isEqualTo("0");
        Postrider second = node();
        second.start();
        write(second, 1, "a", "b", "c");
        eventually("all are delivered", () -> live() == 0);
        assertThat(delivered("a")).isEqualTo(numbers(2));
    }

    @Test
    void lanesAreSharedByTheNodesThatDeliverTheTopic() throws Exception {
        needsConcurrency();
        Postrider first = node(topic -> topic.lanes(8), this::shortLease, transport);
        Postrider second = node(topic -> topic.lanes(8), this::shortLease, transport);
        first.start();
        eventually("the first takes all", () -> owners().equals(List.of(8)));

        second.start();

        eventually("they share", () -> owners().equals(List.of(4, 4)));
        first.stop();
        eventually("the second takes all", () -> owners().equals(List.of(8)));
    }

    @Test
    void lanesOfALostNodeAreTakenOverWhenTheirLeaseIsOver() throws Exception {
        Postrider node = node();
        write(node, 0, "a");
        execute(
                "UPDATE postrider_lane SET owner = 'lost', until = (SELECT MAX(created_at) FROM postrider_message WHERE topic = '"
                        + topic + "') WHERE topic_id = (SELECT id FROM postrider_topic WHERE topic = '" + topic + "')");

        node.start();

        eventually("it is delivered", () -> live() == 0);
    }

    @Test
    void releasedKeyGoesOnWithItsHead() throws Exception {
        AtomicBoolean working = new AtomicBoolean();
        transport.answering(
                delivery -> working.get() ? DeliveryResult.delivered() : DeliveryResult.rejected("not like this"));
        Postrider node = node();
        write(node, 0, "a");
        write(node, 1, "a");
        node.start();
        eventually("the key is blocked", () -> states("a").equals(List.of("PARKED", "BLOCKED")));

        List<BlockedKey> held = node.admin().blockedKeys(topic, 10);
        assertThat(held).hasSize(1);
        assertThat(held.get(0).key()).isEqualTo("a");
        assertThat(held.get(0).isParked()).isTrue();
        assertThat(held.get(0).reason()).isEqualTo("REJECTED");
        assertThat(held.get(0).lastError()).isEqualTo("not like this");
        assertThat(held.get(0).behind()).isEqualTo(1);
        assertThat(node.admin().status().stream()
                        .filter(status -> status.topic().toString().equals(topic)))
                .singleElement()
                .satisfies(status -> {
                    assertThat(status.parked()).isEqualTo(1);
                    assertThat(status.blocked()).isEqualTo(1);
                    assertThat(status.backlog()).isEqualTo(2);
                });

        working.set(true);
        assertThat(node.admin().retry(topic, null, "a", "ann")).isEqualTo(Repair.DONE);

        eventually("the key goes on", () -> live() == 0);
        assertThat(delivered("a")).isEqualTo(List.of(0, 0, 1));
        assertThat(transport.deliveries()).extracting(Delivery::attempt).containsExactly(1, 1, 1);
        assertThat(node.admin().blockedKeys(topic, 10)).isEmpty();
        assertThat(node.admin().retry(TopicName.of(topic), null, "a", "ann")).isEqualTo(Repair.NOT_FOUND);
        assertThat(query("SELECT action FROM postrider_audit WHERE topic = '" + topic + "'"))
                .isEqualTo("RETRY");
    }

    @Test
    void skippedHeadIsADeadLetterAndItsKeyGoesOn() throws Exception {
        transport.answering(delivery ->
                number(delivery.message()) == 0 ? DeliveryResult.failed("busy") : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR));
        write(node, 0, "a");
        write(node, 1, "a");
        node.start();
        eventually("the key is blocked", () -> states("a").equals(List.of("RETRY", "BLOCKED")));
        BlockedKey held = node.admin().blockedKeys(topic, 10).get(0);
        assertThat(held.nextAttempt()).isNotNull();

        assertThat(node.admin().bury(topic, null, "a", held.head(), "ann")).isEqualTo(Repair.DONE);

        eventually("the key goes on", () -> states("a").equals(List.of("DEAD")));
        assertThat(delivered("a")).isEqualTo(List.of(0, 1));
        assertThat(reason("a")).isEqualTo("BURIED");
        write(node, 2, "a");
        eventually("the key is not blocked", () -> delivered("a").equals(List.of(0, 1, 2)));
    }

    @Test
    void replayedDeadLetterHoldsItsKeyUntilItIsDelivered() throws Exception {
        AtomicBoolean working = new AtomicBoolean();
        transport.answering(delivery -> number(delivery.message()) == 0 && !working.get()
                ? DeliveryResult.rejected("no")
                : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.blockAfterDeadLetter(false));
        write(node, 0, "a");
        write(node, 1, "a");
        node.start();
        eventually("the key has gone on", () -> states("a").equals(List.of("DEAD")));
        MessageId dead = node.admin().deadLetters(topic, 1).get(0).message().id();

        working.set(true);
        assertThat(node.admin().replay(dead, "ann")).isEqualTo(Repair.DONE);

        eventually("it is delivered", () -> live() == 0);
        assertThat(delivered("a")).isEqualTo(List.of(0, 1, 0));
        write(node, 2, "a");
        eventually("the key goes on", () -> live() == 0);
    }

    @Test
    void discardedParkedMessageLetsItsKeyGoOn() throws Exception {
        transport.answering(delivery ->
                number(delivery.message()) == 0 ? DeliveryResult.rejected("no") : DeliveryResult.delivered());
        Postrider node = node();
        write(node, 0, "a");
        write(node, 1, "a");
        node.start();
        eventually("the key is blocked", () -> states("a").equals(List.of("PARKED", "BLOCKED")));

        assertThat(node.admin()
                        .discard(node.admin().blockedKeys(topic, 1).get(0).head(), "ann"))
                .isEqualTo(Repair.DONE);

        eventually("the key goes on", () -> live() == 0);
        assertThat(delivered("a")).isEqualTo(numbers(2));
    }

    @Test
    void lanesAndNodesAreListed() throws Exception {
        Postrider node = node(
                topic -> topic.lanes(4),
                options -> options.worker("node-" + topic).pollInterval(Duration.ofMillis(100)));
        assertThat(node.admin().lanes(TopicName.of(topic)))
                .hasSize(4)
                .allMatch(lane -> lane.owner() == null && !lane.expired());

        node.start();

        eventually("the lanes are acquired", () -> owners().equals(List.of(4)));
        assertThat(node.admin().lanes(TopicName.of(topic)))
                .allMatch(lane -> ("node-" + topic).equals(lane.owner()) && !lane.expired());
        assertThat(node.admin().nodes().stream().filter(seen -> seen.worker().equals("node-" + topic)))
                .singleElement()
                .satisfies(seen -> {
                    assertThat(seen.alive()).isTrue();
                    assertThat(seen.topics()).containsExactly(TopicName.of(topic));
                });
    }

    @Test
    void messagesOfTwoLostNodesAreDeliveredOneAtATimeAndNoted() throws Exception {
        Postrider node = node(topic -> topic.lanes(1).blockAfterDeadLetter(false));
        write(node, 0, "a", "b");
        loseLane("NULL");
        loseLane("NULL");
        Queue<CompletableFuture<DeliveryResult>> answers = answeringByHand();

        node.start();

        eventually("one is sent", () -> transport.deliveries().size() == 1);
        assertThat(query(
                        "SELECT isolated FROM postrider_lane l JOIN postrider_topic t ON t.id = l.topic_id WHERE t.topic = '"
                                + topic + "'"))
                .isEqualTo(query("SELECT MIN(seq) FROM postrider_message WHERE topic = '" + topic + "'"));
        never(
                "another beside it",
                Duration.ofMillis(300),
                () -> transport.deliveries().size() > 1);
        answers.remove().complete(DeliveryResult.delivered());
        eventually("the other is sent", () -> transport.deliveries().size() == 2);
        answers.remove().complete(DeliveryResult.delivered());
        eventually("all are delivered", () -> live() == 0);
        eventually(
                "no isolated delivery is left",
                () -> query(
                                "SELECT isolated FROM postrider_lane l JOIN postrider_topic t ON t.id = l.topic_id WHERE t.topic = '"
                                        + topic + "'")
                        .equals("null"));
    }

    @Test
    void messageThatWasNotedWhenItsNodeWasLostIsDeliveredWithNothingElseInFlight() throws Exception {
        Postrider node = node(topic -> topic.lanes(1).blockAfterDeadLetter(false));
        write(node, 0, "a");
        loseLane("NULL");
        loseLane("NULL");
        loseLane("(SELECT MIN(seq) FROM postrider_message WHERE topic = '" + topic + "')");
        Queue<CompletableFuture<DeliveryResult>> answers = answeringByHand();

        node.start();

        eventually("it is sent", () -> transport.deliveries().size() == 1);
        write(node, 0, "b");
        never(
                "another beside it",
                Duration.ofMillis(300),
                () -> transport.deliveries().size() > 1);
        answers.remove().complete(DeliveryResult.delivered());
        eventually("the other is sent", () -> transport.deliveries().size() == 2);
        answers.remove().complete(DeliveryResult.delivered());
        eventually("all are delivered", () -> live() == 0);
    }

    @Test
    void messageThatKillsItsNodeIsBuriedAndItsNeighboursAreDelivered() throws Exception {
        Postrider node = node(topic -> topic.lanes(1).blockAfterDeadLetter(false));
        write(node, 0, "a", "b");
        loseLane("NULL");
        loseLane("NULL");
        String first = "(SELECT MIN(seq) FROM postrider_message WHERE topic = '" + topic + "')";
        loseLane(first);
        loseLane(first);

        node.start();

        eventually("it is buried", () -> states("a").equals(List.of("DEAD")));
        assertThat(reason("a")).isEqualTo("WORKER_LOST");
        eventually("its neighbour is delivered", () -> live() == 1);
        assertThat(delivered("a")).isEmpty();
        assertThat(delivered("b")).isEqualTo(numbers(1));
    }

    /** Simulates the loss of a node that owned the topic's lanes. The next owner counts the loss. */
    private void loseLane(String isolated) throws Exception {
        execute("UPDATE postrider_lane SET owner = 'lost', buffer = 10, isolated = " + isolated
                + ", until = (SELECT MAX(created_at) FROM postrider_message WHERE topic = '" + topic
                + "') WHERE topic_id = (SELECT id FROM postrider_topic WHERE topic = '" + topic + "')");
        LaneStore lanes = JdbcDatabase.open(dataSource(), TableOptions.defaults(), SOON, events::add)
                .lanes();
        assertThat(lanes.acquire(
                        new Lane.Request(TopicName.of(topic), "next", 1, Lane.Supply.FREE, Duration.ofSeconds(30))))
                .hasSize(1)
                .first()
                .satisfies(lane -> lanes.release(List.of(lane)));
    }

    @Test
    void deliversDueInTheCallersThread() throws Exception {
        Postrider node = node();
        write(node, 0, "a", "b");
        write(node, 1, "a", "b");

        assertThat(node.deliverDue()).isEqualTo(4);

        assertThat(delivered("a")).isEqualTo(numbers(2));
        assertThat(live()).isZero();
    }

    @Test
    void messageWithoutAKeyIsRefused() throws Exception {
        Postrider node = node();

        assertThatThrownBy(() -> enqueue(node, message().build()))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("key is missing");
        assertThat(live()).isZero();
    }

    @Test
    void orderedTopicIsNotClaimedRowByRow() {
        Postrider node = node();

        assertThatThrownBy(() -> claim(node))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("is ordered");
    }

    @Test
    void numberOfLanesIsFixedWhenTheTopicIsRegistered() {
        node();

        assertThatThrownBy(() -> node(topic -> topic.lanes(7)))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("lanes is 7 here but 32 in the database");
        assertThatThrownBy(() -> node(topic -> topic.lanes(0))).isInstanceOf(InvalidConfigurationException.class);
    }

    // Helpers

    private Postrider node() {
        return node(topic -> {});
    }

    private Postrider node(Consumer<Topic.Builder> declaration) {
        return node(declaration, options -> options.pollInterval(Duration.ofMillis(100)));
    }

    private Postrider node(Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options) {
        return node(declaration, options, new Patient(transport));
    }

    private Postrider node(
            Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options, Transport to) {
        return postrider(builder -> builder.topic(
                        topic, declared -> declaration.accept(declared.ordered().deliver(to)))
                .dispatch(options)
                .listener(events::add));
    }

    private void shortLease(DispatchOptions.Builder options) {
        options.lease(Duration.ofSeconds(3)).pollInterval(Duration.ofMillis(100));
    }

    private Message.Builder ordered(String key, int number) {
        return message().key(key).json("{\"n\":" + number + "}");
    }

    /** Writes one message of each key, in one transaction. */
    private void write(Postrider postrider, int number, String... keys) throws SQLException {
        try (Connection connection = transaction()) {
            postrider
                    .outbox(connection)
                    .enqueueAll(Arrays.stream(keys)
                            .map(key -> ordered(key, number).build())
                            .toList());
            connection.commit();
        }
    }

    private static int number(Message message) {
        String json = new String(message.payload().bytes(), StandardCharsets.UTF_8);
        return Integer.parseInt(json.substring(5, json.length() - 1));
    }

    private static boolean is(Delivery delivery, String key, int number) {
        return key.equals(delivery.message().key()) && number(delivery.message()) == number;
    }

    private List<Integer> delivered(String key) {
        return transport.messages().stream()
                .filter(message -> key.equals(message.key()))
                .map(OrderingContract::number)
                .toList();
    }

    private static List<Integer> numbers(int count) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(i);
        }
        return numbers;
    }

    private List<String> states(String key) throws SQLException {
        return list("SELECT state FROM postrider_message WHERE topic = '" + topic + "' AND ordering_key = '" + key
                + "' ORDER BY seq");
    }

    private String reason(String key) throws SQLException {
        return query("SELECT reason FROM postrider_message WHERE topic = '" + topic + "' AND ordering_key = '" + key
                + "' ORDER BY seq");
    }

    /** The number of lanes of each owner, in ascending order. */
    private List<Integer> owners() throws SQLException {
        return list(
                        "SELECT COUNT(*) AS n FROM postrider_lane l JOIN postrider_topic t ON t.id = l.topic_id WHERE t.topic = '"
                                + topic + "' AND l.owner IS NOT NULL GROUP BY l.owner ORDER BY n")
                .stream()
                .map(Integer::valueOf)
                .toList();
    }

    private Queue<CompletableFuture<DeliveryResult>> answeringByHand() {
        Queue<CompletableFuture<DeliveryResult>> open = new ConcurrentLinkedQueue<>();
        transport.answeringLater(delivery -> {
            CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
            open.add(answer);
            return answer;
        });
        return open;
    }

    private static void eventually(String what, Callable<Boolean> condition) throws Exception {
        assertThat(happens(SOON, condition)).as(what).isTrue();
    }

    private static void never(String what, Duration during, Callable<Boolean> condition) throws Exception {
        assertThat(happens(during, condition)).as(what).isFalse();
    }

    /** Checks the condition repeatedly, with a short pause, until it is true or the time is over. */
    private static boolean happens(Duration within, Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + within.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0 || breath.await(10, TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return true;
    }
}
