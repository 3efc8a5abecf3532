package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.Change;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.error.PostriderException;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.RecordingTransport;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The contract of the lock order. A handler may lock a message row for minutes, so no statement waits for a message row while it has
 * locked a lane. No statement waits for a lane longer than its lock timeout. The tests run every statement of the store against rows
 * that another session has locked.
 */
public abstract class LockOrderContract extends LaneFixture {

    /** Much longer than any statement needs, and much shorter than the lock timeout of {@link #PATIENT}. */
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** The lock timeout is a third of this statement timeout, so a statement that waits for a locked row still waits at the limit. */
    private static final Duration PATIENT = Duration.ofMinutes(10);

    /** A statement timeout with a lock timeout of one second. */
    private static final Duration IMPATIENT = Duration.ofSeconds(3);

    @Test
    void outcomeOfAHeadDoesNotWaitForTheHandlerOfTheNextMessage() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        List<LaneClaim> waiting = blockedKey(postrider, node, 2);
        try (Connection handler = handling(waiting.get(1))) {
            List<Settlement> settled = within(() -> node.settle(buried(waiting.get(0))));

            assertThat(keyBlocked(settled.get(0))).isTrue();
            assertThat(within(node::renew)).isTrue();
            handler.commit();
        }
        List<Settlement> handled =
                node.settle(new Outcome.Handled(waiting.get(1).claim()));

        assertThat(keyBlocked(handled.get(0))).isFalse();
        assertThat(states()).containsExactly("DEAD");
    }

    @Test
    void nextMessageThatWasNotHandledAfterAllIsTheHead() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        List<LaneClaim> waiting = blockedKey(postrider, node, 3);
        try (Connection handler = handling(waiting.get(1))) {
            within(() -> node.settle(buried(waiting.get(0))));
            handler.rollback();
        }

        node.settle(released(waiting.get(1)), released(waiting.get(2)));

        assertThat(states()).containsExactly("DEAD", "RETRY", "BLOCKED");
        assertThat(numbers(node.timed())).containsExactly(1, 2);
    }

    @Test
    void nextMessageThatAnotherSessionHadLockedIsTheHeadSoonAfterwards() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        List<LaneClaim> waiting = blockedKey(postrider, node, 2);
        node.settle(released(waiting.get(1)));
        try (Connection stranger = handling(waiting.get(1))) {
            within(() -> node.settle(delivered(waiting.get(0))));
            stranger.rollback();
        }

        eventually("the key goes on", () -> {
            node.read();
            return states().equals(List.of("RETRY"));
        });
    }

    @Test
    void nextMessageThatWasLockedWhenAnUnreadableHeadWasBuriedIsTheHead() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        List<LaneClaim> waiting = blockedKey(postrider, node, 2);
        node.settle(released(waiting.get(0)), released(waiting.get(1)));
        execute("UPDATE postrider_message SET attributes = 'none' WHERE seq = "
                + waiting.get(0).claim().seq());
        List<LaneClaim> next;
        try (Connection stranger = handling(waiting.get(1))) {
            next = within(node::timed);
            stranger.rollback();
        }
        assertThat(next).as("the locked message may be cancelled").isEmpty();

        long begun = System.nanoTime();
        eventually("the key goes on", () -> {
            assertThat(System.nanoTime() - begun)
                    .as("long before the usual full scan")
                    .isLessThan(LIMIT.toNanos());
            node.read();
            return states().equals(List.of("DEAD", "RETRY"));
        });
        assertThat(numbers(node.timed())).containsExactly(1);
    }

    @Test
    void outcomeOfALockedRowIsWrittenLaterAndNothingOfItsKeyBeforeIt() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        write(postrider, "a", 0, 1);
        write(postrider, "b", 2);
        List<LaneClaim> claims = node.read();
        try (Connection stranger = handling(claims.get(0))) {
            List<Settlement> settled = within(
                    () -> node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), delivered(claims.get(2))));

            assertThat(settled)
                    .containsExactly(
                            new Settlement.Locked(claims.get(0).claim()),
                            new Settlement.Locked(claims.get(1).claim()),
                            new Settlement.Settled(claims.get(2).claim()));
            assertThat(within(() -> node.settle(blocked(claims.get(1)))))
                    .as("in a batch of its own")
                    .containsExactly(new Settlement.Locked(claims.get(1).claim()));
            stranger.rollback();
        }

        assertThat(node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1))))
                .allMatch(Settlement.Settled.class::isInstance);
        assertThat(states()).containsExactly("RETRY", "BLOCKED");
        assertThat(numbers(node.timed())).containsExactly(0, 1);
    }

    /** Each deferred outcome is tried again at its own time, and all of them may have met the lock. */
    @Test
    void deferredOutcomesOfAKeyAreWrittenInTheirOrder() throws Exception {
        Postrider postrider = ordered();
        needsConcurrency();
        Holder node = take(patient().lanes(), topic);
        write(postrider, "a", 0, 1, 2, 3);
        List<LaneClaim> claims = node.read();
        node.settle(retry(claims.get(0)));
        try (Connection stranger = transaction()) {
            lockLane(stranger);
            assertThat(within(
                            () -> node.settle(blocked(claims.get(1)), blocked(claims.get(2)), blocked(claims.get(3)))))
                    .allMatch(Settlement.Locked.class::isInstance);
            stranger.rollback();
        }

        assertThat(node.settle(blocked(claims.get(3))))
                .containsExactly(new Settlement.Locked(claims.get(3).claim()));
        assertThat(node.settle(blocked(claims.get(2)), blocked(claims.get(3))))
                .allMatch(Settlement.Locked.class::isInstance);
        assertThat(states()).containsExactly("RETRY", "PENDING", "PENDING", "PENDING");
        assertThat(node.settle(blocked(claims.get(1)), blocked(claims.get(3))))
                .containsExactly(
                        new Settlement.Settled(claims.get(1).claim(), true),
                        new Settlement.Locked(claims.get(3).claim()));
        assertThat(node.settle(blocked(claims.get(2)), blocked(claims.get(3))))
                .allMatch(Settlement.Settled.class::isInstance);
        assertThat(states()).containsExactly("RETRY", "BLOCKED", "BLOCKED", "BLOCKED");
    }

    /** Otherwise a message behind a locked one would become the head of the key before it. */
    @Test
    void messagesBehindALockedRowDoNotJoinTheirKeyBeforeIt() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        write(postrider, "a", 0, 1, 2);
        write(postrider, "b", 3, 4);
        List<LaneClaim> claims = node.read();
        node.settle(retry(claims.get(0)), retry(claims.get(3)));
        LaneOutcome[] joining = {blocked(claims.get(1)), blocked(claims.get(2)), blocked(claims.get(4))};
        try (Connection stranger = handling(claims.get(1))) {
            assertThat(within(() -> node.settle(joining)))
                    .containsExactly(
                            new Settlement.Locked(claims.get(1).claim()),
                            new Settlement.Locked(claims.get(2).claim()),
                            new Settlement.Settled(claims.get(4).claim(), true));
            stranger.rollback();
        }
        assertThat(states()).containsExactly("RETRY", "PENDING", "PENDING", "RETRY", "BLOCKED");

        assertThat(node.settle(joining[0], joining[1])).allMatch(Settlement.Settled.class::isInstance);
        assertThat(states()).containsExactly("RETRY", "BLOCKED", "BLOCKED", "RETRY", "BLOCKED");
    }

    /** Its head is gone, and the next message can not become the head yet. New messages must not overtake those that wait. */
    @Test
    void keyWhoseNextHeadIsLockedIsBlockedForTheNextOwnerOfItsLane() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        List<LaneClaim> waiting = blockedKey(postrider, node, 3);
        node.settle(released(waiting.get(1)), released(waiting.get(2)));
        try (Connection stranger = handling(waiting.get(1))) {
            within(() -> node.settle(delivered(waiting.get(0))));
            node.store().release(Set.of(node.lane()));

            Holder next = within(() -> take(patient().lanes(), topic));

            assertThat(next.lane().blockedKeys()).containsExactly(new OrderingKey(null, "a"));
            stranger.rollback();
            eventually("the key continues", () -> {
                next.read();
                return states().equals(List.of("RETRY", "BLOCKED"));
            });
        }
    }

    @Test
    void outcomeOfALockedRowThatIsRemovedCameTooLate() throws Exception {
        Postrider postrider = ordered();
        Holder node = take(patient().lanes(), topic);
        write(postrider, "a", 0);
        LaneClaim claim = node.read().get(0);
        try (Connection handler = handling(claim)) {
            assertThat(within(() -> node.settle(retry(claim)))).containsExactly(new Settlement.Locked(claim.claim()));
            handler.commit();
        }

        assertThat(node.settle(retry(claim))).containsExactly(gone(claim));
    }

    @Test
    void operatorIsToldThatAHeadIsBeingHandledAndNothingIsChanged() throws Exception {
        Postrider postrider = ordered();
        JdbcDatabase database = patient();
        Holder node = take(database.lanes(), topic);
        List<LaneClaim> waiting = blockedKey(postrider, node, 2);
        Admin admin = database.admin();
        TopicName name = TopicName.of(topic);
        MessageId head = waiting.get(0).claim().message().id();
        try (Connection handler = handling(waiting.get(0))) {
            assertThat(within(() -> admin.retry(name, null, "a", "ann"))).isEqualTo(Repair.BUSY);
            assertThat(within(() -> admin.bury(name, null, "a", head, "ann"))).isEqualTo(Repair.BUSY);
            assertThat(within(node::renew)).isTrue();
            handler.rollback();
        }
        try (Connection handler = handling(waiting.get(1))) {
            assertThat(within(() -> admin.bury(name, null, "a", head, "ann")))
                    .as("the next one is being handled")
                    .isEqualTo(Repair.BUSY);
            handler.rollback();
        }
        assertThat(states()).containsExactly("RETRY", "BLOCKED");
        assertThat(admin.bury(name, null, "a", head, "ann")).isEqualTo(Repair.DONE);
        assertThat(states()).containsExactly("DEAD", "RETRY");
        assertThat(list("SELECT action FROM postrider_audit WHERE topic = '" + topic + "'"))
                .containsExactly("BURY");
    }

    @Test
    void laneThatIsLockedIsLeftOutOfARenewalAndIsNotLost() throws Exception {
        String other = topic + "-other";
        ordered(topic, other);
        LaneStore store = impatient().lanes();
        Holder locked = take(store, topic);
        Holder free = take(store, other);
        try (Connection operator = transaction()) {
            lockLane(operator);

            Lane.Renewal renewal = within(() -> store.renew(Set.of(locked.lane(), free.lane()), LEASE));

            assertThat(renewal.renewed()).containsExactly(free.lane());
            assertThat(renewal.lost()).isEmpty();
            operator.rollback();
        }
        assertThat(locked.renew()).isTrue();
    }

    /** The default isolation of MySQL and MariaDB locks the gaps of an index, too. No statement can skip a gap. */
    @Test
    void gapThatIsLockedDelaysNoOutcomeOfAnotherTopic() throws Exception {
        String other = topic + "-other";
        Postrider postrider = ordered(topic, other);
        needsConcurrency();
        LaneStore store = impatient().lanes();
        Holder locked = take(store, topic);
        Holder free = take(store, other);
        write(postrider, "a", 0);
        locked.settle(retry(locked.read().get(0)));
        write(postrider, "b", 1);
        enqueue(
                postrider,
                Message.to(other).type("x").key("a").json("{\"n\":2}").build());
        LaneClaim failing = locked.read().get(0);
        LaneClaim neighbour = free.read().get(0);
        try (Connection stranger = transaction()) {
            execute(stranger, "SELECT seq FROM postrider_message WHERE state = 'RETRY' FOR UPDATE");

            List<Settlement> settled = within(() -> store.settle(List.of(retry(failing), delivered(neighbour))));

            assertThat(settled.get(1)).isEqualTo(new Settlement.Settled(neighbour.claim()));
            stranger.rollback();
        }
        locked.settle(retry(failing));
        assertThat(states()).containsExactly("RETRY", "RETRY");
    }

    /** A node has few threads that write outcomes, for all its lanes. */
    @Test
    void laneThatIsLockedDelaysNoOutcomeOfAnotherOne() throws Exception {
        String other = topic + "-other";
        Postrider postrider = ordered(topic, other);
        needsConcurrency();
        LaneStore store = patient().lanes();
        Holder locked = take(store, topic);
        Holder free = take(store, other);
        write(postrider, "a", 0, 1);
        enqueue(
                postrider,
                Message.to(other).type("x").key("a").json("{\"n\":2}").build());
        List<LaneClaim> claims = locked.read();
        LaneClaim neighbour = free.read().get(0);
        LaneOutcome[] outcomes = {retryAtOnce(claims.get(0)), blocked(claims.get(1)), delivered(neighbour)};
        try (Connection stranger = transaction()) {
            lockLane(stranger);

            assertThat(within(() -> store.settle(List.of(outcomes))))
                    .containsExactly(
                            new Settlement.Locked(claims.get(0).claim()),
                            new Settlement.Locked(claims.get(1).claim()),
                            new Settlement.Settled(neighbour.claim()));
            stranger.rollback();
        }
        assertThat(locked.settle(blocked(claims.get(1))))
                .as("an earlier outcome of its key is not written")
                .containsExactly(new Settlement.Locked(claims.get(1).claim()));

        assertThat(locked.settle(outcomes[0], outcomes[1])).allMatch(Settlement.Settled.class::isInstance);
        assertThat(states()).containsExactly("RETRY", "BLOCKED");
        assertThat(numbers(locked.timed())).containsExactly(0, 1);
    }

    @Test
    void nodeThatStopsWritesTheOutcomesOfOtherLanesWhileALaneIsLocked() throws Exception {
        String other = topic + "-other";
        RecordingTransport transport = new RecordingTransport();
        Postrider node = postrider(builder -> builder.topic(
                        topic, locked -> locked.ordered().lanes(1).deliver(transport))
                .topic(other, free -> free.ordered().lanes(1).deliver(transport))
                .dispatch(options -> options.lease(Duration.ofSeconds(12))
                        .pollInterval(Duration.ofMillis(100))
                        .drainTimeout(Duration.ofSeconds(1))));
        needsConcurrency();
        node.start();
        eventually("both lanes are acquired", () -> !lanes("token").contains("null"));
        try (Connection stranger = transaction()) {
            lockLane(stranger);
            write(node, "a", 0);
            enqueue(node, Message.to(other).type("x").key("a").json("{\"n\":1}").build());
            eventually("both are delivered", () -> transport.messages().size() == 2);

            within(() -> {
                node.close();
                return true;
            });

            assertThat(list("SELECT topic FROM postrider_message WHERE topic LIKE '" + topic + "%'"))
                    .containsExactly(topic);
            stranger.rollback();
        }
    }

    @Test
    void everyOutcomeOfALockedLaneIsWrittenLater() throws Exception {
        Scene scene = new Scene(ordered(), patient());
        needsConcurrency();
        try (Connection stranger = transaction()) {
            lockLane(stranger);

            assertThat(within(() -> scene.node.settle(scene.endings()))).allMatch(Settlement.Locked.class::isInstance);
            stranger.rollback();
        }
        assertThat(scene.node.settle(scene.endings())).allMatch(Settlement.Settled.class::isInstance);
    }

    @Test
    void keyOfAHandledHeadContinuesWhenItsLaneIsFree() throws Exception {
        Postrider postrider = ordered();
        needsConcurrency();
        Holder node = take(patient().lanes(), topic);
        LaneClaim head = blockedKey(postrider, node, 2).get(0);
        execute("DELETE FROM postrider_message WHERE seq = " + head.claim().seq());
        Outcome.Handled outcome = new Outcome.Handled(head.claim());
        try (Connection stranger = transaction()) {
            lockLane(stranger);

            assertThat(within(() -> node.settle(outcome))).containsExactly(new Settlement.Locked(head.claim()));
            stranger.rollback();
        }
        assertThat(keyBlocked(node.settle(outcome).get(0))).isTrue();
        assertThat(states()).containsExactly("RETRY");
    }

    @Test
    void suspectOfALockedLaneIsNotedLater() throws Exception {
        Postrider postrider = ordered();
        needsConcurrency();
        Holder node = take(patient().lanes(), topic);
        write(postrider, "a", 0);
        Claim suspect = node.read().get(0).claim();
        try (Connection stranger = transaction()) {
            lockLane(stranger);

            assertThat(within(() -> node.store().startIsolated(suspect))).isFalse();
            assertThat(within(() -> node.store().endIsolated(suspect)))
                    .as("it may have a note")
                    .isFalse();
            stranger.rollback();
        }
        assertThat(node.store().startIsolated(suspect)).isTrue();
        assertThat(query("SELECT isolated FROM postrider_lane" + ofLane())).isEqualTo(Long.toString(suspect.seq()));
        assertThat(node.store().endIsolated(suspect)).isTrue();
        assertThat(query("SELECT COUNT(isolated) FROM postrider_lane" + ofLane()))
                .isEqualTo("0");
        execute("UPDATE postrider_lane SET token = " + anotherToken() + ofLane());
        assertThat(node.store().startIsolated(suspect)).as("a lost lane").isFalse();
        assertThat(node.store().endIsolated(suspect)).as("a lost lane").isTrue();
    }

    @Test
    void laneThatIsLockedIsReleasedLaterAndDelaysNoOtherRelease() throws Exception {
        String other = topic + "-other";
        ordered(topic, other);
        needsConcurrency();
        LaneStore store = patient().lanes();
        Holder locked = take(store, topic);
        Holder free = take(store, other);
        LaneStore.Node node = new LaneStore.Node(UUID.randomUUID(), "worker", Set.of(TopicName.of(topic)));
        try (Connection stranger = transaction()) {
            lockLane(stranger);

            assertThat(within(() -> {
                        store.release(List.of(locked.lane(), free.lane()));
                        return store.announce(node, LEASE);
                    }))
                    .isNotEmpty();
            assertThat(list("SELECT owner FROM postrider_lane l JOIN postrider_topic t ON t.id = l.topic_id"
                            + " WHERE t.topic LIKE '" + topic + "%' AND owner IS NOT NULL"))
                    .hasSize(1);
            stranger.rollback();
        }
        store.announce(node, LEASE);

        assertThat(query("SELECT COUNT(owner) FROM postrider_lane" + ofLane())).isEqualTo("0");
    }

    /** The first message of the key becomes a dead letter, and the handler of the second runs for a long time. */
    @Test
    void nodeKeepsItsLanesWhileAHandlerBehindADeadLetterRuns() throws Exception {
        String other = topic + "-other";
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        RecordingTransport transport = new RecordingTransport();
        Postrider node = postrider(builder -> builder.topic(
                        topic,
                        handled -> handled.ordered()
                                .lanes(1)
                                .maxAttempts(2)
                                .retry(RetryPolicy.constant(Duration.ZERO))
                                .blockAfterDeadLetter(false)
                                .process((message, work) -> {
                                    if (number(message) == 0) {
                                        throw new IllegalStateException("never");
                                    }
                                    inside.countDown();
                                    assertThat(go.await(2 * SOON.toSeconds(), TimeUnit.SECONDS))
                                            .isTrue();
                                }))
                .topic(other, delivered -> delivered.ordered().lanes(2).deliver(transport))
                .dispatch(options -> options.lease(Duration.ofSeconds(12)).pollInterval(Duration.ofMillis(100))));
        write(node, "a", 0, 1);
        try {
            node.start();
            assertThat(inside.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
            eventually("the dead letter is written", () -> states().contains("DEAD"));
            List<String> tokens = lanes("token");
            for (int round = 0; round < 2; round++) {
                List<String> until = lanes("until");
                eventually("each lane is renewed", () -> {
                    List<String> now = lanes("until");
                    return IntStream.range(0, now.size())
                            .noneMatch(lane -> now.get(lane).equals(until.get(lane)));
                });
                enqueue(node, Message.to(other).type("x").key("b").text("y").build());
            }
            eventually(
                    "the other topic is delivered", () -> transport.messages().size() >= 2);
            assertThat(lanes("token")).isEqualTo(tokens);
            assertThat(transport.messages()).hasSize(2);
        } finally {
            go.countDown();
        }
        eventually("it is handled", () -> states().equals(List.of("DEAD")));
    }

    private List<String> lanes(String column) throws SQLException {
        return list("SELECT " + column + " FROM postrider_lane l JOIN postrider_topic t ON t.id = l.topic_id"
                + " WHERE t.topic LIKE '" + topic + "%' ORDER BY t.topic, l.lane");
    }

    @Test
    void noStatementWaitsForAMessageThatIsLocked() throws Exception {
        Postrider postrider = ordered();
        JdbcDatabase database = patient();
        Scene scene = new Scene(postrider, database);
        try (Connection stranger = transaction();
                Statement statement = stranger.createStatement()) {
            statement.executeQuery("SELECT seq FROM postrider_message WHERE topic LIKE '" + topic + "%' FOR UPDATE");
            for (Map.Entry<String, Callable<?>> entry : scene.statements().entrySet()) {
                assertThat(within(entry.getValue())).as(entry.getKey()).isNotNull();
            }
            assertThat(within(() -> scene.node.settle(scene.endings()))).allMatch(Settlement.Locked.class::isInstance);
            assertThat(within(() -> scene.messages.settle(scene.endingsOfClaims())))
                    .allMatch(Settlement.Locked.class::isInstance);
            assertThat(scene.repairs()).containsOnly(Repair.BUSY);
            execute("UPDATE postrider_lane SET until = '2020-01-01 00:00:00'" + ofLane());
            assertThat(within(() -> database.lanes().acquire(request(topic, Lane.Supply.FREE))))
                    .as("the lane of a lost node")
                    .hasSize(1);
            stranger.rollback();
        }
    }

    @Test
    void noStatementWaitsLongForALaneThatIsLocked() throws Exception {
        Postrider postrider = ordered();
        needsConcurrency(); // on H2 the URL sets the lock timeout of every statement
        JdbcDatabase database = impatient();
        Scene scene = new Scene(postrider, database);
        try (Connection stranger = transaction()) {
            lockLane(stranger);
            Map<String, Callable<?>> statements = scene.statements();
            statements.put("write outcomes", () -> scene.node.settle(scene.endings()));
            statements.put("go on with a key", () -> scene.node.settle(new Outcome.Handled(scene.head.claim())));
            statements.put("repair", scene::repairs);
            statements.put("deliver alone", () -> database.lanes().startIsolated(scene.head.claim()));
            statements.put("release", () -> {
                scene.node.store().release(Set.of(scene.node.lane()));
                return true;
            });
            for (Map.Entry<String, Callable<?>> entry : statements.entrySet()) {
                assertThat(withinOrRefused(entry.getValue())).as(entry.getKey()).isNotNull();
            }
            stranger.rollback();
        }
    }

    /** A lane with a message in every state. Its owner has read all messages that it can read. */
    private final class Scene {

        private final Admin admin;
        private final JdbcDatabase database;
        private final Holder node;
        private final LaneClaim head;
        private final List<LaneClaim> inOrder;
        private final MessageId dead;
        private final MessageId parked;
        private final MessageStore messages;
        private final List<Claim> claims;
        private final String plain = topic + "-plain";

        Scene(Postrider postrider, JdbcDatabase database) throws SQLException {
            postrider(builder -> builder.topic(plain, declared -> {}));
            try (Connection connection = transaction()) {
                for (int number = 0; number < 5; number++) {
                    postrider
                            .outbox(connection)
                            .enqueue(Message.to(plain).type("x").text("y").build());
                }
                connection.commit();
            }
            this.database = database;
            this.messages = database.messages();
            this.claims = messages.claim(ClaimRequest.of(plain, "worker").limit(4));
            this.admin = database.admin();
            this.node = take(database.lanes(), topic);
            write(postrider, "dead", 0);
            write(postrider, "parked", 1, 2);
            List<LaneClaim> ended = node.read();
            dead = ended.get(0).claim().message().id();
            parked = ended.get(1).claim().message().id();
            node.settle(
                    buried(ended.get(0)),
                    new LaneOutcome.Parked(ended.get(1).claim(), DeadReason.FAILED, "no"),
                    blocked(ended.get(2)));
            head = blockedKey(postrider, node, 2).get(0);
            write(postrider, "b", 3);
            write(postrider, "c", 4);
            write(postrider, "d", 5);
            write(postrider, "e", 6);
            inOrder = node.read();
            assertThat(inOrder).hasSize(4);
        }

        LaneOutcome[] endings() {
            return new LaneOutcome[] {
                delivered(inOrder.get(0)),
                retry(inOrder.get(1)),
                buried(inOrder.get(2)),
                blocked(inOrder.get(3)),
                buried(head)
            };
        }

        List<Outcome> endingsOfClaims() {
            return List.of(
                    new Outcome.Delivered(claims.get(0)),
                    new Outcome.Retry(claims.get(1), LEASE, "busy"),
                    new Outcome.Buried(claims.get(2), DeadReason.FAILED, "no"),
                    new Outcome.Released(claims.get(3)));
        }

        /** Runs every repair, one after another, each within the limit. */
        List<Object> repairs() throws Exception {
            TopicName name = TopicName.of(topic);
            return List.of(
                    withinOrRefused(() -> admin.retry(name, null, "a", "ann")),
                    withinOrRefused(() ->
                            admin.bury(name, null, "a", head.claim().message().id(), "ann")),
                    withinOrRefused(() -> admin.retry(name, null, "parked", "ann")),
                    withinOrRefused(() -> admin.bury(name, null, "parked", parked, "ann")),
                    withinOrRefused(() ->
                            admin.apply(Action.PARK, head.claim().message().id(), Change.by("ann"))),
                    withinOrRefused(() ->
                            admin.apply(Action.RETRY, head.claim().message().id(), Change.by("ann"))),
                    withinOrRefused(() -> admin.apply(Action.BURY, parked, Change.by("ann"))),
                    withinOrRefused(() -> admin.replay(dead, "ann")),
                    withinOrRefused(() -> admin.discard(dead, "ann")));
        }

        /** The statements that change no message here. */
        Map<String, Callable<?>> statements() {
            LaneStore store = node.store();
            TopicName name = TopicName.of(topic);
            Map<String, Callable<?>> statements = new LinkedHashMap<>();
            statements.put("renew", node::renew);
            statements.put(
                    "announce",
                    () -> store.announce(new LaneStore.Node(UUID.randomUUID(), "worker", Set.of(name)), LEASE));
            statements.put("read", node::read);
            statements.put("read due messages", node::timed);
            statements.put("find the next due time", () -> store.nextDue(Set.of(node.lane())));
            statements.put("extend", () -> messages.extend(claims, LEASE));
            statements.put("claim", () -> messages.claim(ClaimRequest.of(plain, "worker")));
            statements.put("sweep", () -> messages.sweep(TopicName.of(plain), 1, 10));
            statements.put("purge dead letters", () -> database.retention().purgeDead(Duration.ofDays(1), 10));
            statements.put("purge the archive", () -> database.retention().purgeArchive(Duration.ofDays(1), 10));
            statements.put("list blocked keys", () -> admin.blockedKeys(name, 0, 10));
            statements.put("list dead letters", () -> admin.deadLetters(name, 0, 10));
            statements.put("list lanes", () -> admin.lanes(name));
            statements.put("list messages", () -> admin.messages(Filter.all().topic(name), Paging.oldest(10)));
            statements.put("count failures", () -> admin.failures(Filter.all().topic(name), 10));
            statements.put("explain", () -> admin.explain(dead));
            statements.put("list the audit", () -> admin.audit(Long.MAX_VALUE, 10));
            statements.put("count", admin::status);
            statements.put("find", () -> admin.find(dead));
            statements.put("pause", () -> {
                admin.pause(name, "ann");
                admin.resume(name, "ann");
                return true;
            });
            return statements;
        }
    }

    /** Writes messages of a key and blocks it. The head is due, and all its messages are in flight on the node. */
    private List<LaneClaim> blockedKey(Postrider postrider, Holder node, int count) throws SQLException {
        for (int number = 0; number < count; number++) {
            write(postrider, "a", number);
        }
        List<LaneClaim> claims = node.read();
        LaneOutcome[] outcomes = claims.stream()
                .map(claim -> number(claim.claim().message()) == 0 ? retryAtOnce(claim) : blocked(claim))
                .toArray(LaneOutcome[]::new);
        node.settle(outcomes);
        List<LaneClaim> waiting = node.timed();
        assertThat(waiting).hasSize(count);
        return waiting;
    }

    private static LaneOutcome buried(LaneClaim claim) {
        return new Outcome.Buried(claim.claim(), DeadReason.FAILED, "no");
    }

    /** Opens the transaction of a handler that has removed its message and is still running. */
    private Connection handling(LaneClaim claim) throws SQLException {
        Connection connection = transaction();
        execute(
                connection,
                "DELETE FROM postrider_message WHERE seq = " + claim.claim().seq());
        return connection;
    }

    private JdbcDatabase patient() {
        return JdbcDatabase.open(dataSource(), TableOptions.defaults(), PATIENT, events::add);
    }

    private JdbcDatabase impatient() {
        return JdbcDatabase.open(dataSource(), TableOptions.defaults(), IMPATIENT, events::add);
    }

    /** Runs the call on another thread, so that the test can fail while the call still waits. */
    private static <T> T within(Callable<T> call) throws Exception {
        CompletableFuture<T> answer = CompletableFuture.supplyAsync(() -> {
            try {
                return call.call();
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
        try {
            return answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("waits for a lock", e);
        }
    }

    /** Accepts a {@link PostriderException} as a result. */
    private static Object withinOrRefused(Callable<?> call) throws Exception {
        return within(() -> {
            try {
                return call.call();
            } catch (PostriderException e) {
                return e;
            }
        });
    }
}
