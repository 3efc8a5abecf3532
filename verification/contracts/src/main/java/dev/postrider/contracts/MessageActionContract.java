package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageDetail;
import dev.postrider.admin.MessageDetail.Wait;
import dev.postrider.admin.MessageDetail.WaitCause;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.transport.DeliveryResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The contract of operators' actions on messages, one at a time and by filter, and of what a message waits for. */
public abstract class MessageActionContract extends LaneFixture {

    private static final Change ANN = Change.by("ann").reason("destination fixed, #4711");

    private Filter here(State... states) {
        return Filter.in(states).topic(topic);
    }

    /** Writes messages of an unordered topic and makes them dead letters. */
    private List<MessageId> dead(Postrider postrider, int count) throws SQLException {
        enqueue(postrider, count);
        List<MessageId> ids = new ArrayList<>();
        while (ids.size() < count) {
            List<Outcome> outcomes = new ArrayList<>();
            for (Claim claim : postrider.store().claim(request().limit(1000))) {
                outcomes.add(new Outcome.Buried(claim, DeadReason.REJECTED, "no route to 10.0.0." + claim.seq()));
                ids.add(claim.message().id());
            }
            postrider.store().settle(outcomes);
        }
        return ids;
    }

    private List<AuditEntry> audit(Postrider postrider) {
        return postrider.admin().audit(Long.MAX_VALUE, 1000).stream()
                .filter(entry -> topic.equals(entry.topic()))
                .toList();
    }

    private State state(Postrider postrider, MessageId id) {
        return postrider.admin().find(id).orElseThrow().state();
    }

    @Test
    void deadLettersThatAFilterSelectsAreReplayedAndNoOthers() throws SQLException {
        Postrider postrider = postrider();
        List<MessageId> dead = dead(postrider, 3);
        execute("UPDATE postrider_message SET last_error = 'other' WHERE seq = (SELECT m FROM (SELECT MAX(seq) AS m"
                + " FROM postrider_message WHERE topic = '" + topic + "') x)");

        ChangeResult result =
                postrider.admin().apply(Action.REPLAY, Filter.all().topic(topic).errorContains("no route"), ANN);

        assertThat(result).isEqualTo(new ChangeResult(2, 0, null, List.of()));
        assertThat(dead.stream().map(id -> state(postrider, id)).toList())
                .containsExactly(State.PENDING, State.PENDING, State.DEAD);
        assertThat(claim(postrider))
                .hasSize(2)
                .allSatisfy(claim -> assertThat(claim.attempt()).isEqualTo(1));
        assertThat(audit(postrider)).singleElement().satisfies(entry -> {
            assertThat(entry.operator()).isEqualTo("ann");
            assertThat(entry.action()).isEqualTo("REPLAY");
            assertThat(entry.reason()).isEqualTo("destination fixed, #4711");
            assertThat(entry.filter()).isEqualTo("state=dead,parked topic=" + topic + " error~no route");
            assertThat(entry.message()).isNull();
            assertThat(entry.changed()).isEqualTo(2);
            assertThat(entry.skipped()).isZero();
        });
    }

    @Test
    void dryRunCountsAndShowsAndChangesNothing() throws SQLException {
        Postrider postrider = postrider();
        List<MessageId> dead = dead(postrider, 12);

        ChangeResult result = postrider.admin().apply(Action.DISCARD, here(State.DEAD), Change.dryRun());

        assertThat(result.changed()).isEqualTo(12);
        assertThat(result.next()).isNull();
        assertThat(result.sample()).extracting(MessageSummary::id).containsExactlyElementsOf(dead.subList(0, 10));
        assertThat(live()).isEqualTo(12);
        assertThat(audit(postrider)).isEmpty();
        ChangeResult more = postrider
                .admin()
                .apply(Action.DISCARD, here(State.DEAD), Change.dryRun().limit(5));
        assertThat(more.changed()).isEqualTo(5);
        assertThat(more.next()).as("more than five").isNotNull();
    }

    @Test
    void limitEndsACallAndItsCursorContinues() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 5);
        Admin admin = postrider.admin();

        ChangeResult first = admin.apply(Action.REPLAY, here(State.DEAD), ANN.limit(2));
        ChangeResult second =
                admin.apply(Action.REPLAY, here(State.DEAD), ANN.limit(2).after(first.next()));
        ChangeResult third =
                admin.apply(Action.REPLAY, here(State.DEAD), ANN.limit(2).after(second.next()));

        assertThat(List.of(first.changed(), second.changed(), third.changed())).containsExactly(2, 2, 1);
        assertThat(first.next()).isNotNull();
        assertThat(third.next()).isNull();
        assertThat(audit(postrider)).extracting(AuditEntry::changed).containsExactly(1, 2, 2);
    }

    @Test
    void manyMessagesAreChangedInBoundedTransactions() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 1200);

        ChangeResult result = postrider.admin().apply(Action.DISCARD, here(State.DEAD), ANN);

        assertThat(result.changed()).isEqualTo(1200);
        assertThat(live()).isZero();
        assertThat(audit(postrider)).extracting(AuditEntry::changed).containsExactly(200, 500, 500);
    }

    @Test
    void messageThatIsLockedIsSkippedWithoutWaiting() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 3);
        ChangeResult result;
        try (Connection stranger = transaction();
                Statement statement = stranger.createStatement()) {
            needsConcurrency();
            statement
                    .executeQuery("SELECT seq FROM postrider_message WHERE topic = '" + topic
                            + "' ORDER BY seq LIMIT 1 FOR UPDATE")
                    .close();
            result = postrider.admin().apply(Action.REPLAY, here(State.DEAD), ANN);
            stranger.rollback();
        }

        assertThat(result.changed()).isEqualTo(2);
        assertThat(result.skipped()).isEqualTo(1);
        assertThat(states()).containsExactly("DEAD", "PENDING", "PENDING");
    }

    @Test
    void retryMakesRetryingAndScheduledMessagesDueNow() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim failed = claim(postrider).get(0);
        postrider.store().reschedule(failed, Duration.ofHours(1), "busy");
        Message scheduled = message().deliverAt(Instant.now().plusSeconds(3600)).build();
        enqueue(postrider, scheduled);
        enqueue(postrider, 1);
        Admin admin = postrider.admin();

        assertThat(admin.apply(Action.RETRY, failed.message().id(), ANN.expecting(State.SCHEDULED)))
                .isEqualTo(Repair.WRONG_STATE);
        assertThat(admin.apply(Action.RETRY, failed.message().id(), ANN.expecting(State.RETRYING)))
                .isEqualTo(Repair.DONE);
        assertThat(admin.apply(Action.RETRY, failed.message().id(), ANN))
                .as("is due already")
                .isEqualTo(Repair.WRONG_STATE);
        assertThat(admin.apply(Action.RETRY, here(State.SCHEDULED), ANN).changed())
                .isEqualTo(1);

        assertThat(claim(postrider)).hasSize(3).extracting(Claim::attempt).containsExactlyInAnyOrder(2, 1, 1);
    }

    @Test
    void retryingMessageIsBuriedAndAPendingOneIsNot() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 2);
        List<Claim> claims = claim(postrider);
        postrider.store().reschedule(claims.get(0), Duration.ofHours(1), "busy");
        postrider.store().release(claims.get(1));
        Admin admin = postrider.admin();

        assertThat(admin.apply(Action.PARK, claims.get(0).message().id(), ANN))
                .as("unordered topics have no parked messages")
                .isEqualTo(Repair.WRONG_STATE);
        assertThat(admin.apply(Action.BURY, claims.get(1).message().id(), ANN)).isEqualTo(Repair.WRONG_STATE);
        assertThat(admin.apply(Action.BURY, claims.get(0).message().id(), ANN)).isEqualTo(Repair.DONE);

        assertThat(states()).containsExactly("DEAD", "PENDING");
        assertThat(admin.find(claims.get(0).message().id()).orElseThrow().reason())
                .isEqualTo("BURIED");
        assertThat(audit(postrider)).singleElement().satisfies(entry -> {
            assertThat(entry.message()).isEqualTo(claims.get(0).message().id());
            assertThat(entry.reason()).isEqualTo(ANN.reason());
            assertThat(entry.changed()).isNull();
        });
        assertThat(admin.apply(Action.BURY, MessageId.next(), ANN)).isEqualTo(Repair.NOT_FOUND);
    }

    /** Blocks a key with a head that waits for its retry. */
    private List<LaneClaim> blockedKey(Postrider postrider, Holder node, String key, int... numbers)
            throws SQLException {
        write(postrider, key, numbers);
        List<LaneClaim> claims = node.read();
        List<LaneOutcome> outcomes = new ArrayList<>();
        for (LaneClaim claim : claims) {
            outcomes.add(outcomes.isEmpty() ? retry(claim) : blocked(claim));
        }
        node.settle(outcomes.toArray(LaneOutcome[]::new));
        return claims;
    }

    private static MessageId id(LaneClaim claim) {
        return claim.claim().message().id();
    }

    @Test
    void headIsParkedRetriedAndBuriedByItsId() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        List<LaneClaim> claims = blockedKey(postrider, node, "a", 0, 1);
        Admin admin = postrider.admin();
        MessageId head = id(claims.get(0));

        assertThat(admin.apply(Action.PARK, head, ANN)).isEqualTo(Repair.DONE);
        assertThat(admin.find(head).orElseThrow().reason()).isEqualTo("PARKED");
        assertThat(states()).containsExactly("PARKED", "BLOCKED");
        assertThat(admin.apply(Action.PARK, head, ANN)).isEqualTo(Repair.WRONG_STATE);
        assertThat(admin.apply(Action.RETRY, id(claims.get(1)), ANN))
                .as("is not the head")
                .isEqualTo(Repair.WRONG_STATE);
        assertThat(admin.apply(Action.RETRY, head, ANN)).isEqualTo(Repair.DONE);
        List<LaneClaim> due = node.timed();
        assertThat(numbers(due)).containsExactly(0, 1);
        node.settle(released(due.get(0)), released(due.get(1)));
        assertThat(admin.apply(Action.PARK, head, ANN)).isEqualTo(Repair.DONE);
        assertThat(admin.apply(Action.BURY, head, ANN)).isEqualTo(Repair.DONE);
        assertThat(admin.find(head).orElseThrow().reason()).isEqualTo("BURIED");
        assertThat(states()).containsExactly("DEAD", "RETRY");
        assertThat(audit(postrider)).extracting(AuditEntry::action).containsExactly("BURY", "PARK", "RETRY", "PARK");
    }

    @Test
    void headThatIsParkedWhileItIsDeliveredArrivesAndItsKeyContinues() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)));
        List<LaneClaim> waiting = node.timed();

        assertThat(postrider.admin().apply(Action.PARK, id(waiting.get(0)), ANN))
                .isEqualTo(Repair.DONE);
        node.settle(delivered(waiting.get(0)));
        node.settle(delivered(waiting.get(0)), released(waiting.get(1)));

        assertThat(states()).containsExactly("RETRY");
        assertThat(archived()).isEqualTo(1);
    }

    @Test
    void headThatIsParkedWhileItsDeliveryFailsStaysParked() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)));
        List<LaneClaim> waiting = node.timed();

        assertThat(postrider.admin().apply(Action.PARK, id(waiting.get(0)), ANN))
                .isEqualTo(Repair.DONE);
        node.settle(retryAtOnce(waiting.get(0)), released(waiting.get(1)));

        assertThat(states()).containsExactly("PARKED", "BLOCKED");
        assertThat(node.timed()).isEmpty();
    }

    @Test
    void replayByFilterKeepsTheOrderOfEachKey() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2);
        write(postrider, "b", 3, 4);
        List<LaneOutcome> outcomes = new ArrayList<>();
        for (LaneClaim claim : node.read()) {
            outcomes.add(new Outcome.Buried(claim.claim(), DeadReason.FAILED, "no"));
        }
        node.settle(outcomes.toArray(LaneOutcome[]::new));
        write(postrider, "a", 5);

        ChangeResult result = postrider.admin().apply(Action.REPLAY, here(State.DEAD), ANN);

        assertThat(result.changed()).isEqualTo(5);
        assertThat(result.skipped()).isZero();
        assertThat(states()).containsExactly("RETRY", "BLOCKED", "BLOCKED", "RETRY", "BLOCKED", "PENDING");
        assertThat(audit(postrider))
                .singleElement()
                .satisfies(entry -> assertThat(entry.changed()).isEqualTo(5));
    }

    @Test
    void buryByFilterSkipsTheKeyWhoseNextMessageIsLocked() throws SQLException {
        Postrider postrider = ordered();
        needsConcurrency();
        Holder node = holder();
        List<LaneClaim> first = blockedKey(postrider, node, "a", 0, 1);
        blockedKey(postrider, node, "b", 2, 3);
        ChangeResult result;
        try (Connection handler = transaction()) {
            execute(
                    handler,
                    "DELETE FROM postrider_message WHERE seq = "
                            + first.get(1).claim().seq());
            result = postrider.admin().apply(Action.BURY, here(State.RETRYING), ANN);
            handler.rollback();
        }

        assertThat(result.changed()).isEqualTo(1);
        assertThat(result.skipped()).isEqualTo(1);
        assertThat(states()).containsExactly("RETRY", "BLOCKED", "DEAD", "RETRY");
    }

    @Test
    void twoOperatorsWithOneFilterChangeEachMessageOnce() throws Exception {
        Postrider postrider = postrider();
        dead(postrider, 700);
        CyclicBarrier together = new CyclicBarrier(2);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        List<Integer> changed = new ArrayList<>();
        try {
            List<Future<ChangeResult>> results = new ArrayList<>();
            for (String operator : List.of("ann", "bob")) {
                results.add(threads.submit(() -> {
                    together.await();
                    return postrider.admin().apply(Action.REPLAY, here(State.DEAD), Change.by(operator));
                }));
            }
            for (Future<ChangeResult> result : results) {
                changed.add(result.get().changed());
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(changed.stream().mapToInt(Integer::intValue).sum()).isEqualTo(700);
        assertThat(audit(postrider).stream()
                        .map(AuditEntry::changed)
                        .mapToInt(count -> count == null ? 0 : count)
                        .sum())
                .isEqualTo(700);
        assertThat(states()).hasSize(700).containsOnly("PENDING");
    }

    @Test
    void messagesAreReplayedWhileNodesDeliverThem() throws Exception {
        Set<MessageId> failing = ConcurrentHashMap.newKeySet();
        String inOrder = topic + "-in-order";
        RecordingTransport transport = new RecordingTransport()
                .answering(delivery -> failing.add(delivery.message().id())
                        ? DeliveryResult.rejected("not yet")
                        : DeliveryResult.delivered());
        Postrider node = postrider(builder -> builder.topic(topic, declared -> declared.deliver(transport))
                .topic(
                        inOrder,
                        declared -> declared.ordered()
                                .lanes(4)
                                .blockAfterDeadLetter(false)
                                .deliver(transport))
                .dispatch(options -> options.pollInterval(Duration.ofMillis(50))));
        node.start();
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            messages.add(message().json("{\"n\":" + i + "}").build());
            messages.add(Message.to(inOrder)
                    .type("x")
                    .key("k" + i % 20)
                    .json("{\"n\":" + i + "}")
                    .build());
        }
        try (Connection connection = transaction()) {
            node.outbox(connection).enqueueAll(messages);
            connection.commit();
        }

        eventually("every message is replayed and delivered", () -> {
            node.admin().apply(Action.REPLAY, Filter.dead().topic(topic), ANN);
            node.admin().apply(Action.REPLAY, Filter.dead().topic(inOrder), ANN);
            return query("SELECT COUNT(*) FROM postrider_message WHERE topic LIKE '" + topic + "%'")
                    .equals("0");
        });

        assertThat(query("SELECT COUNT(*) FROM postrider_archive WHERE topic LIKE '" + topic + "%'"))
                .isEqualTo("600");
        assertThat(transport.messages()).as("each failed once and arrived once").hasSize(1200);
    }

    @Test
    void messageSaysWhatItWaitsFor() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        List<LaneClaim> key = blockedKey(postrider, node, "a", 0, 1);
        write(postrider, "a", 2);
        write(postrider, "b", 3, 4);
        Message later =
                ordered("c", 5).deliverAt(Instant.now().plusSeconds(3600)).build();
        enqueue(postrider, later);
        List<MessageId> ids =
                list("SELECT seq FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq").stream()
                        .map(seq -> postrider.admin().messages(here(), Paging.oldest(100)).messages().stream()
                                .filter(message -> message.seq() == Long.parseLong(seq))
                                .findFirst()
                                .orElseThrow()
                                .id())
                        .toList();

        assertThat(waits(postrider, ids.get(0)))
                .extracting(Wait::cause)
                .containsExactly(WaitCause.NO_NODE, WaitCause.DUE_TIME);
        for (int behind : List.of(1, 2)) {
            assertThat(waits(postrider, ids.get(behind)))
                    .filteredOn(wait -> wait.cause() == WaitCause.BLOCKED_KEY)
                    .singleElement()
                    .satisfies(wait -> {
                        assertThat(wait.behind()).isEqualTo(id(key.get(0)));
                        assertThat(wait.until()).isAfter(Instant.now());
                    });
        }
        assertThat(waits(postrider, ids.get(3))).extracting(Wait::cause).containsExactly(WaitCause.NO_NODE);
        assertThat(waits(postrider, ids.get(4)))
                .extracting(Wait::cause, Wait::behind)
                .contains(tuple(WaitCause.EARLIER_MESSAGE, ids.get(3)));
        assertThat(waits(postrider, later.id()))
                .extracting(Wait::cause)
                .containsExactly(WaitCause.NO_NODE, WaitCause.DUE_TIME);
        postrider.admin().pause(topic, "ann");
        assertThat(waits(postrider, ids.get(3)).get(0).cause()).isEqualTo(WaitCause.PAUSED_TOPIC);
        postrider.admin().apply(Action.PARK, ids.get(0), ANN);
        assertThat(waits(postrider, ids.get(0))).extracting(Wait::cause).containsExactly(WaitCause.OPERATOR);
        assertThat(postrider.admin().explain(MessageId.next())).isEmpty();
    }

    @Test
    void messageInDeliveryWaitsForTheEndOfItsLeaseAndADeliveredOneForNothing() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim = claim(postrider).get(0);

        assertThat(waits(postrider, claim.message().id())).singleElement().satisfies(wait -> {
            assertThat(wait.cause()).isEqualTo(WaitCause.DELIVERY);
            assertThat(wait.until()).isNotNull();
        });
        postrider.store().acknowledge(claim);
        assertThat(waits(postrider, claim.message().id())).isEmpty();
    }

    private static List<Wait> waits(Postrider postrider, MessageId id) {
        Optional<MessageDetail> detail = postrider.admin().explain(id);
        return detail.orElseThrow().waits();
    }

    @Test
    void senselessChangesAreRefusedAndChangeNothing() throws SQLException {
        Postrider postrider = postrider();
        List<MessageId> dead = dead(postrider, 1);
        Admin admin = postrider.admin();
        List<ThrowingCallable> calls = List.of(
                () -> Change.by(null),
                () -> Change.by(" "),
                () -> Change.by("x".repeat(256)),
                () -> ANN.reason(" "),
                () -> ANN.reason("a\0b"),
                () -> ANN.reason("x".repeat(1001)),
                () -> ANN.limit(0),
                () -> ANN.limit(10_001),
                () -> admin.apply(Action.DISCARD, dead.get(0), Change.dryRun()),
                () -> admin.apply(Action.REPLAY, here(State.PENDING), ANN),
                () -> admin.apply(Action.REPLAY, here(State.DEAD), ANN.expecting(State.RETRYING)),
                () -> admin.apply(Action.DISCARD, here(State.DEAD), ANN.after("a")),
                () -> admin.apply(Action.DISCARD, here(State.DEAD), ANN.after("' OR 1")));
        assertThat(calls)
                .allSatisfy(call -> assertThatThrownBy(call).isInstanceOf(InvalidConfigurationException.class));
        assertThat(states()).containsExactly("DEAD");
        assertThat(admin.apply(
                                Action.DISCARD,
                                here(State.DEAD),
                                Change.by("Zoë 😀").reason("x".repeat(1000)))
                        .changed())
                .isEqualTo(1);
        assertThat(audit(postrider)).singleElement().satisfies(entry -> {
            assertThat(entry.operator()).isEqualTo("Zoë 😀");
            assertThat(entry.reason()).hasSize(1000);
            assertThat(TopicName.of(String.valueOf(entry.topic()))).isEqualTo(TopicName.of(topic));
        });
    }
}
