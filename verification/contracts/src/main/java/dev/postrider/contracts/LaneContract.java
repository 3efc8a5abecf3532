package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.Repair;
import dev.postrider.error.StoreException;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.testkit.WatchedDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** The contract of lanes: a read misses no message, only the owner writes, and the writes of a former owner are refused. */
public abstract class LaneContract extends LaneFixture {

    private static final List<Function<LaneClaim, LaneOutcome>> EVERY_OUTCOME = List.of(
            LaneFixture::delivered,
            LaneFixture::retry,
            LaneFixture::blocked,
            claim -> new Outcome.Buried(claim.claim(), DeadReason.REJECTED, "no"),
            claim -> new LaneOutcome.RetryOutOfOrder(claim.claim(), Duration.ofMinutes(1), "busy"),
            claim -> new LaneOutcome.Parked(claim.claim(), DeadReason.FAILED, "no"));

    // Reading

    @Test
    void commitBelowWhatWasReadIsReadNext() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        try (Connection slow = transaction()) {
            write(postrider, slow, "a", 0);
            write(postrider, "b", 1);
            List<LaneClaim> early = node.read();
            assertThat(numbers(early)).containsExactly(1);
            node.deliver(early);

            slow.commit();
        }

        assertThat(numbers(node.read())).containsExactly(0);
    }

    @Test
    void commitThatWasOpenForManyReadsIsReadByTheNextOrdinaryOne() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "b", 1);
        node.deliver(node.read());
        try (Connection slow = transaction()) {
            write(postrider, slow, "a", 0);
            for (int round = 2; round < 8; round++) {
                write(postrider, "b", round);
                List<LaneClaim> claims = node.read();
                assertThat(numbers(claims)).containsExactly(round);
                node.deliver(claims);
                assertThat(node.renew()).isTrue();
                assertThat(node.read()).isEmpty();
            }
            slow.commit();
        }

        assertThat(numbers(node.read())).containsExactly(0);
        assertThat(foundLate()).isZero();
    }

    @Test
    void rolledBackNumbersDelayNothing() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        try (Connection undone = transaction()) {
            write(postrider, undone, "a", 0);
            undone.rollback();
        }
        write(postrider, "a", 1);

        assertThat(numbers(node.read())).containsExactly(1);
    }

    @Test
    void readLeavesOutMessagesInFlightAndRepeatsReleasedOnes() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2);
        List<LaneClaim> claims = node.read();
        assertThat(numbers(claims)).containsExactly(0, 1, 2);
        assertThat(node.read()).isEmpty();

        node.settle(released(claims.get(2)), released(claims.get(0)), released(claims.get(1)));

        write(postrider, "a", 3);
        List<LaneClaim> again = node.read();
        assertThat(numbers(again)).containsExactly(0, 1, 2, 3);
        assertThat(again).allMatch(claim -> claim.claim().attempt() == 1);
    }

    @Test
    void messagesPutBackAfterMuchWasReadAreReadAgain() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0);
        List<LaneClaim> first = node.read();
        for (int round = 1; round < 5; round++) {
            write(postrider, "b", round);
            node.deliver(node.read());
            node.renew();
        }

        node.settle(released(first.get(0)));

        assertThat(numbers(node.read())).containsExactly(0);
        assertThat(foundLate()).isZero();
    }

    @Test
    void pauseHidesMessagesAndLosesNone() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0);
        node.deliver(node.read());
        postrider.admin().pause(topic, "test");
        write(postrider, "a", 1);
        for (int look = 0; look < 3; look++) {
            assertThat(node.read()).isEmpty();
            assertThat(node.renew()).isTrue();
        }

        postrider.admin().resume(topic, "test");

        write(postrider, "a", 2);
        assertThat(numbers(node.read())).containsExactly(1, 2);
        assertThat(foundLate()).isZero();
    }

    @Test
    void pauseIsNoticedByAReadAndByAScanForDueMessages() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        TopicName name = TopicName.of(topic);
        write(postrider, "a", 0);
        assertThat(numbers(node.read())).containsExactly(0);
        assertThat(node.store().isPaused(name)).isFalse();

        postrider.admin().pause(topic, "test");

        assertThat(node.store().nextDue(Set.of(node.lane()))).isEmpty();
        assertThat(node.store().isPaused(name)).isTrue();
        postrider.admin().resume(topic, "test");
        assertThat(node.store().nextDue(Set.of(node.lane()))).containsKey(name);
        assertThat(node.store().isPaused(name)).isFalse();
        postrider.admin().pause(topic, "test");
        assertThat(node.read()).isEmpty();
        assertThat(node.store().isPaused(name)).isTrue();
        postrider.admin().resume(topic, "test");
        assertThat(node.read()).isEmpty();
        assertThat(node.store().isPaused(name)).isFalse();
    }

    @Test
    void laneWithMoreMessagesThanRoomIsReadInOrderAndInWhole() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        for (int i = 0; i < 10; i++) {
            write(postrider, "k" + i % 3, i);
        }

        List<Integer> read = new ArrayList<>();
        for (List<LaneClaim> claims = node.read(3, 1000); !claims.isEmpty(); claims = node.read(3, 1000)) {
            assertThat(claims).hasSizeLessThanOrEqualTo(3);
            read.addAll(numbers(claims));
            node.renew();
        }

        assertThat(read).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(foundLate()).isZero();
    }

    @Test
    void roomOfALaneDoesNotDependOnOtherLanes() throws SQLException {
        Postrider postrider = postrider(
                builder -> builder.topic(topic, declared -> declared.ordered().lanes(2)));
        LaneStore store = store();
        List<Lane> lanes = store.acquire(request(topic, Lane.Supply.FREE));
        for (int i = 0; i < 20; i++) {
            write(postrider, "k" + i, i);
        }
        Lane full = lanes.get(0);
        Lane other = lanes.get(1);
        assertThat(store.read(full.topic(), Map.of(full, 100), 10_000)).hasSizeGreaterThan(3);

        List<LaneClaim> claims = store.read(full.topic(), Map.of(full, 2, other, 2), 10_000);

        assertThat(claims).hasSize(2).allMatch(claim -> claim.lane() == other.number());
    }

    @Test
    void payloadsLargerThanTheBudgetComeOneByOneAndInOrder() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        String filling = "x".repeat(1000);
        for (int i = 0; i < 5; i++) {
            enqueue(
                    postrider,
                    message()
                            .key("a")
                            .json("{\"n\":" + i + "}" + " ".repeat(100) + filling)
                            .build());
        }

        List<Integer> read = new ArrayList<>();
        for (List<LaneClaim> claims = node.read(100, 500); !claims.isEmpty(); claims = node.read(100, 500)) {
            assertThat(claims).hasSize(1);
            read.addAll(numbers(claims));
            node.deliver(claims);
            node.renew();
        }

        assertThat(read).containsExactly(0, 1, 2, 3, 4);
        assertThat(foundLate()).isZero();
    }

    @Test
    void unreadableMessageBecomesADeadLetterAndItsKeyGoesOn() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2);
        execute("UPDATE postrider_message SET attributes = 'none' WHERE seq = " + seqOf(1));

        List<LaneClaim> claims = node.read();

        assertThat(numbers(claims)).containsExactly(0, 2);
        assertThat(states()).containsExactly("PENDING", "DEAD", "PENDING");
        node.deliver(claims);
        assertThat(states()).containsExactly("DEAD");
        assertThat(column("reason")).isEqualTo("UNREADABLE");
        assertThat(node.read()).isEmpty();
    }

    @Test
    void unreadableMessageIsBuriedAlthoughAnOperatorChangedTheLane() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0);
        execute("UPDATE postrider_message SET attributes = 'none' WHERE seq = " + seqOf(0));
        execute("UPDATE postrider_lane SET revision = revision + 1" + ofLane());

        assertThat(node.read()).isEmpty();

        assertThat(states()).containsExactly("DEAD");
    }

    @Test
    void messageWithoutAReadableKeyThatCannotBeBuriedTakesNoOtherMessageAway() throws SQLException {
        Postrider postrider = ordered();
        FailingDataSource source = new FailingDataSource(dataSource());
        Holder node = take(store(source), topic);
        assertThat(node.read()).isEmpty();
        write(postrider, "a", 0, 1, 2);
        execute("UPDATE postrider_message SET ordering_key = ' ' WHERE seq = " + seqOf(1));

        source.failAfter(1);
        List<LaneClaim> claims = readUnlessItFails(node);
        source.failAfter(Integer.MAX_VALUE);
        claims.addAll(node.read());

        assertThat(numbers(claims)).containsExactly(0, 2);
        assertThat(states()).containsExactly("PENDING", "DEAD", "PENDING");
        node.deliver(claims);
        assertThat(states()).containsExactly("DEAD");
        assertThat(foundLate()).isZero();
    }

    @Test
    void headWithoutAReadableKeyThatCannotBeBuriedTakesNoOtherMessageAway() throws SQLException {
        Postrider postrider = ordered();
        FailingDataSource source = new FailingDataSource(dataSource());
        Holder node = take(store(source), topic);
        write(postrider, "a", 0);
        write(postrider, "b", 1);
        List<LaneClaim> first = node.read();
        node.settle(retryAtOnce(first.get(0)), retryAtOnce(first.get(1)));
        execute("UPDATE postrider_message SET ordering_key = ' ' WHERE seq = " + seqOf(0));

        source.failAfter(1);
        List<LaneClaim> claims = new ArrayList<>();
        try {
            claims.addAll(node.timed());
        } catch (StoreException e) {
            assertThat(e).isNotNull();
        }
        source.failAfter(Integer.MAX_VALUE);
        claims.addAll(node.timed());

        assertThat(numbers(claims)).containsExactly(1);
        assertThat(states()).containsExactly("DEAD", "RETRY");
    }

    /** On MySQL, MariaDB and H2 the read has several statements. */
    @Test
    void headThatAnOperatorBuriesInTheMiddleOfAReadIsNotAttempted() throws SQLException {
        Postrider postrider = ordered();
        Message head = ordered("a", 0).build();
        AtomicBoolean buries = new AtomicBoolean();
        Holder node = take(
                store(new WatchedDataSource(dataSource()) {
                    @Override
                    protected Object on(Call call) throws Throwable {
                        String sql = call.sql();
                        if (call.isExecution()
                                && sql != null
                                && sql.matches("SELECT \\* FROM \\S+ WHERE seq IN .*")
                                && buries.getAndSet(false)) {
                            assertThat(postrider.admin().bury(topic, null, "a", head.id(), "ada"))
                                    .isEqualTo(Repair.DONE);
                        }
                        return call.proceed();
                    }
                }),
                topic);
        enqueue(postrider, head);
        write(postrider, "a", 1);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)));
        buries.set(true);

        List<Integer> taken = numbers(node.timed());

        if (buries.get()) {
            assertThat(product()).as("one statement").isEqualTo("PostgreSQL");
            assertThat(taken).containsExactly(0, 1);
        } else {
            assertThat(taken).doesNotContain(0);
            assertThat(states()).containsExactly("DEAD", "RETRY");
            assertThat(numbers(node.timed())).containsExactly(1);
        }
    }

    private static List<LaneClaim> readUnlessItFails(Holder node) {
        try {
            return new ArrayList<>(node.read());
        } catch (StoreException e) {
            return new ArrayList<>();
        }
    }

    @Test
    void messageThatIsNotInFlightIsReadAgain() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0);
        write(postrider, "b", 1);
        write(postrider, "c", 2);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(2)));
        List<LaneClaim> waiting = node.timed();
        long first = claims.get(0).claim().seq();

        assertThat(node.store()
                        .reconcile(Map.of(
                                node.lane(),
                                Set.of(
                                        first,
                                        claims.get(1).claim().seq(),
                                        waiting.get(0).claim().seq()))))
                .isZero();
        assertThat(node.read()).isEmpty();

        assertThat(node.store().reconcile(Map.of(node.lane(), Set.of(first)))).isEqualTo(2);
        assertThat(numbers(node.read())).containsExactly(1);
        assertThat(numbers(node.timed())).containsExactly(2);
    }

    @Test
    void budgetUsedUpByAnUnreadableMessageSkipsNothing() throws SQLException {
        String other = topic + "-other";
        Postrider postrider = ordered(topic, other);
        LaneStore store = store();
        Holder node = take(store, topic);
        Holder neighbour = take(store, other);
        enqueue(postrider, message().key("a").text("x".repeat(2000)).build());
        execute("UPDATE postrider_message SET attributes = 'none' WHERE seq = " + seqOf(0));
        write(postrider, "a", 1);
        for (int look = 0; look < 3; look++) {
            assertThat(neighbour.read()).isEmpty(); // detects that no transaction is open
            neighbour.renew();
        }

        assertThat(node.read(100, 500)).isEmpty();

        assertThat(numbers(node.read(100, 500))).containsExactly(1);
        assertThat(foundLate()).isZero();
    }

    @Test
    void unreadableMessagesInABlockedKeyDoNotStopIt() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2, 3);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), blocked(claims.get(2)), blocked(claims.get(3)));
        execute("UPDATE postrider_message SET attributes = 'none' WHERE seq IN (" + seqOf(0) + ", " + seqOf(2) + ")");

        List<LaneClaim> waiting = new ArrayList<>(node.timed());
        waiting.addAll(node.timed());

        assertThat(numbers(waiting)).containsExactly(1, 3);
        assertThat(states().get(0)).isEqualTo("DEAD");
        assertThat(states().get(2)).isEqualTo("DEAD");
        node.deliver(waiting);
        assertThat(states()).containsExactly("DEAD", "DEAD");
    }

    // Row numbers that are used again

    @Test
    void outcomeOfAMessageWhoseNumberNowIsAnothersChangesNothing() throws SQLException {
        for (Function<LaneClaim, LaneOutcome> outcome : EVERY_OUTCOME) {
            String name = topic + "-" + UUID.randomUUID().toString().substring(0, 8);
            Postrider postrider = ordered(name);
            Holder node = take(store(), name);
            enqueue(
                    postrider,
                    Message.to(name).type("x").key("a").json("{\"n\":0}").build());
            LaneClaim old = node.read().get(0);
            enqueue(
                    postrider,
                    Message.to(name).type("x").key("a").json("{\"n\":1}").build());
            execute("DELETE FROM postrider_message WHERE seq = " + old.claim().seq());
            execute("UPDATE postrider_message SET seq = " + old.claim().seq() + " WHERE topic = '" + name + "'");
            assertThat(node.read()).as("the number is in flight").isEmpty();

            assertThat(node.settle(outcome.apply(old))).containsExactly(gone(old));

            assertThat(query("SELECT state FROM postrider_message WHERE topic = '" + name + "'"))
                    .isEqualTo("PENDING");
            assertThat(numbers(node.read())).containsExactly(1);
        }
    }

    // The fence

    @Test
    void outcomesOfALostOwnerChangeNothing() throws SQLException {
        Postrider postrider = ordered();
        for (int i = 0; i < EVERY_OUTCOME.size(); i++) {
            write(postrider, "k" + i, i);
        }
        Holder lost = holder();
        List<LaneClaim> claims = lost.read();
        Holder owner = takeOver();
        List<String> before = rows();

        List<LaneOutcome> outcomes = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            outcomes.add(EVERY_OUTCOME.get(i).apply(claims.get(i)));
        }
        List<Settlement> settlements = lost.store().settle(outcomes);

        assertThat(settlements)
                .containsExactlyElementsOf(
                        claims.stream().map(LaneFixture::lost).toList());
        assertThat(rows()).isEqualTo(before);
        assertThat(lost.renew()).isFalse();
        assertThat(owner.read()).hasSameSizeAs(claims);
        lost.store().release(Set.of(lost.lane()));
        assertThat(owner.renew()).as("after the lost node's release").isTrue();
    }

    @Test
    void outcomesForBlockedKeysOfALostOwnerChangeNothing() throws SQLException {
        Postrider postrider = ordered();
        for (int i = 0; i < EVERY_OUTCOME.size(); i++) {
            write(postrider, "k" + i, i, i + 10);
        }
        Holder lost = holder();
        List<LaneClaim> claims = lost.read();
        for (int i = 0; i < claims.size(); i += 2) {
            lost.settle(retryAtOnce(claims.get(i)), blocked(claims.get(i + 1)));
        }
        List<LaneClaim> waiting = lost.timed();
        assertThat(waiting).hasSameSizeAs(claims);
        takeOver();
        List<String> before = rows();

        for (int i = 0; i < waiting.size(); i++) {
            LaneClaim claim = waiting.get(i);
            assertThat(lost.settle(EVERY_OUTCOME.get(i / 2).apply(claim))).containsExactly(lost(claim));
        }

        assertThat(rows()).isEqualTo(before);
    }

    @Test
    void takeoverThatCommitsWhileTheOldOwnerAcknowledgesWins() throws Exception {
        needsConcurrency();
        Postrider postrider = ordered();
        write(postrider, "a", 0);
        Holder lost = holder();
        List<LaneClaim> claims = lost.read();
        try (Connection takeover = transaction()) {
            lockLane(takeover);
            execute(takeover, "UPDATE postrider_lane SET owner = 'other', token = " + anotherToken() + ofLane());
            assertThat(lost.deliver(claims))
                    .as("the takeover may be rolled back")
                    .containsExactly(new Settlement.Locked(claims.get(0).claim()));
            takeover.commit();
        }

        assertThat(lost.deliver(claims)).containsExactly(lost(claims.get(0)));
        assertThat(states()).containsExactly("PENDING");
        assertThat(archived()).isZero();
    }

    @Test
    void laneThatWasLostAndRegainedHasAnotherLease() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 0, 1);
        LaneStore store = store();
        Holder before = take(store, topic);
        List<LaneClaim> old = before.read();
        Holder between = takeOver();
        between.store().release(Set.of(between.lane()));

        Holder after = take(store, topic);

        assertThat(after.lane().lease().token())
                .isNotEqualTo(before.lane().lease().token());
        List<LaneClaim> claims = after.read();
        assertThat(numbers(claims)).containsExactly(0, 1);
        assertThat(before.settle(delivered(old.get(0)), retry(old.get(1))))
                .containsExactly(lost(old.get(0)), lost(old.get(1)));
        assertThat(states()).containsExactly("PENDING", "PENDING");
        assertThat(after.deliver(claims)).noneMatch(Settlement::isLost);
        assertThat(live()).isZero();
    }

    @Test
    void lostLaneSpoilsNoOtherAlthoughItHasTheSameNumber() throws SQLException {
        String kept = topic + "-kept";
        Postrider postrider = ordered(topic, kept);
        write(postrider, "a", 0);
        enqueue(postrider, Message.to(kept).type("x").key("a").json("{\"n\":1}").build());
        LaneStore store = store();
        Holder lost = take(store, topic);
        Holder sound = take(store, kept);
        LaneClaim lostClaim = lost.read().get(0);
        LaneClaim soundClaim = sound.read().get(0);
        execute("UPDATE postrider_lane SET token = " + anotherToken() + ofLane());

        List<Settlement> settlements = store.settle(List.of(delivered(lostClaim), delivered(soundClaim)));

        assertThat(settlements.get(0)).isEqualTo(lost(lostClaim));
        assertThat(settlements.get(1)).isEqualTo(new Settlement.Settled(soundClaim.claim()));
        assertThat(states()).containsExactly("PENDING");
    }

    @Test
    void outcomeThatMeetsAnOperatorIsWrittenOnceAfterThatOnWhatItLeft() throws Exception {
        needsConcurrency();
        Postrider postrider = ordered();
        write(postrider, "a", 0, 1, 2);
        Holder node = holder();
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), blocked(claims.get(2)));
        LaneClaim head = node.timed().get(0);
        try (Connection operator = transaction()) {
            lockLane(operator);
            execute(
                    operator,
                    "DELETE FROM postrider_message WHERE seq = "
                            + claims.get(1).claim().seq());
            execute(operator, "UPDATE postrider_lane SET revision = revision + 1" + ofLane());
            assertThat(node.settle(delivered(head))).containsExactly(new Settlement.Locked(head.claim()));
            operator.commit();
        }

        assertThat(keyBlocked(node.settle(delivered(head)).get(0))).isTrue();
        assertThat(states()).containsExactly("RETRY");
        assertThat(archived()).isEqualTo(1);
        assertThat(query("SELECT attempts FROM postrider_archive WHERE topic = '" + topic + "'"))
                .isEqualTo("2");
    }

    /** Each of them is sent again at a time of its own, so that the last may come first. */
    @Test
    void outcomesOfAKeyThatMetALockedLaneAreWrittenInTheirOrder() throws Exception {
        needsConcurrency();
        Postrider postrider = ordered();
        write(postrider, "a", 0);
        Holder node = holder();
        node.settle(retryAtOnce(node.read().get(0)));
        LaneClaim head = node.timed().get(0);
        write(postrider, "a", 1, 2);
        List<LaneClaim> behind = node.read();
        try (Connection other = transaction()) {
            lockLane(other);
            assertThat(node.settle(delivered(head))).containsExactly(new Settlement.Locked(head.claim()));
            for (LaneClaim claim : behind) {
                assertThat(node.settle(blocked(claim))).containsExactly(new Settlement.Locked(claim.claim()));
            }
        }
        assertThat(node.settle(delivered(head))).noneMatch(Settlement::isLocked);

        assertThat(node.settle(blocked(behind.get(1))))
                .containsExactly(new Settlement.Locked(behind.get(1).claim()));

        assertThat(node.settle(blocked(behind.get(0)))).noneMatch(Settlement::isLocked);
        assertThat(node.settle(blocked(behind.get(1)))).noneMatch(Settlement::isLocked);
        assertThat(states()).containsExactly("RETRY", "BLOCKED");
    }

    @Test
    void everyOutcomeIsWrittenAfterAnOperatorChangedTheLane() throws SQLException {
        Postrider postrider = ordered();
        for (int i = 0; i < EVERY_OUTCOME.size(); i++) {
            write(postrider, "k" + i, i);
        }
        Holder node = holder();
        List<LaneClaim> claims = node.read();
        List<LaneOutcome> outcomes = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            outcomes.add(EVERY_OUTCOME.get(i).apply(claims.get(i)));
        }
        execute("UPDATE postrider_lane SET revision = revision + 1" + ofLane());

        assertThat(node.store().settle(outcomes)).noneMatch(Settlement::isLost);

        assertThat(states()).containsExactly("RETRY", "RETRY", "DEAD", "SCHEDULED", "PARKED");
        assertThat(attempts()).containsExactly("1", "0", "1", "1", "1");
    }

    @Test
    void outcomesThatWereWrittenBeforeAnotherWasRefusedAreNotLost() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0);
        node.settle(retryAtOnce(node.read().get(0)));
        LaneClaim head = node.timed().get(0);
        write(postrider, "b", 1);
        LaneClaim other = node.read().get(0);
        execute("ALTER TABLE postrider_message ADD CONSTRAINT refusing_error CHECK (last_error <> 'refused')");
        try {
            assertThatThrownBy(() ->
                            node.settle(delivered(other), new Outcome.Retry(head.claim(), Duration.ZERO, "refused")))
                    .isInstanceOf(StoreException.class);
        } finally {
            execute("ALTER TABLE postrider_message DROP CONSTRAINT refusing_error");
        }

        assertThat(node.settle(delivered(other), retry(head))).noneMatch(Settlement::isLost);

        assertThat(states()).containsExactly("RETRY");
        assertThat(attempts()).containsExactly("2");
        assertThat(archived()).isEqualTo(1);
    }

    // Ownership

    @Test
    void onlyOneNodeHoldsALane() throws SQLException {
        ordered();
        Holder node = holder();

        assertThat(store().acquire(request(topic, Lane.Supply.FREE))).isEmpty();

        node.store().release(Set.of(node.lane()));
        assertThat(store().acquire(request(topic, Lane.Supply.FREE))).hasSize(1);
    }

    @Test
    void leftOverLaneIsOneWithoutAnOwnerForAWholeLease() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 0);
        assertThat(store().acquire(request(topic, Lane.Supply.UNCLAIMED))).isEmpty();

        advance(LONGER_THAN_A_LEASE);

        assertThat(store().acquire(request(topic, Lane.Supply.UNCLAIMED))).hasSize(1);
        advance(LONGER_THAN_A_LEASE);
        assertThat(store().acquire(request(topic, Lane.Supply.UNCLAIMED)))
                .as("its owner was lost just now")
                .isEmpty();
        advance(LONGER_THAN_A_LEASE);
        assertThat(store().acquire(request(topic, Lane.Supply.UNCLAIMED))).hasSize(1);
    }

    @Test
    void nodesAreCountedFromTheirAnnouncementUntilTheyLeaveOrAreLost() {
        String other = topic + "-other";
        ordered(topic, other);
        LaneStore store = store();
        LaneStore.Node both =
                new LaneStore.Node(UUID.randomUUID(), "both", Set.of(TopicName.of(topic), TopicName.of(other)));
        LaneStore.Node one = new LaneStore.Node(UUID.randomUUID(), "one", Set.of(TopicName.of(topic)));
        LaneStore.Node silent = new LaneStore.Node(UUID.randomUUID(), "silent", Set.of(TopicName.of(other)));

        assertThat(store.announce(both, LEASE)).containsValues(1, 1);
        assertThat(store.announce(one, LEASE)).containsExactly(Map.entry(TopicName.of(topic), 2));
        assertThat(store.announce(silent, LEASE)).containsExactly(Map.entry(TopicName.of(other), 2));
        assertThat(store.announce(both, LEASE)).containsValues(2, 2);

        store.leave(one);
        assertThat(store.announce(both, LEASE)).containsEntry(TopicName.of(topic), 1);
        advance(LONGER_THAN_A_LEASE);
        assertThat(store.announce(both, LEASE)).containsEntry(TopicName.of(other), 1);
    }

    @Test
    void releasedLaneKeepsMessagesInFlightForTheNextOwner() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 0, 1, 2);
        Holder node = holder();
        node.deliver(node.read().subList(0, 1));

        node.store().release(Set.of(node.lane()));

        assertThat(numbers(holder().read())).containsExactly(1, 2);
    }

    // Helpers

    /** The row number of the message at this position among the messages of the topic. */
    private String seqOf(int place) throws SQLException {
        return list("SELECT seq FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq")
                .get(place);
    }

    /** The columns that an outcome can change, of every row. */
    private List<String> rows() throws SQLException {
        return list(
                "SELECT CONCAT(seq, ' ', state, ' ', attempts, ' ', COALESCE(reason, ''), ' ', COALESCE(last_error, ''), ' ',"
                        + " available_at, ' ', updated_at) FROM postrider_message WHERE topic = '" + topic
                        + "' ORDER BY seq");
    }
}
