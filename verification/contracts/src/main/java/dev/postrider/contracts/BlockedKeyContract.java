package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.Repair;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of blocked keys: which messages wait behind a head, how they continue in order, and how the block ends. */
public abstract class BlockedKeyContract extends LaneFixture {

    @Test
    void headThatFailedComesFirstAndWhatJoinedItAfterwards() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        List<LaneClaim> claims = node.read();
        node.settle(retry(claims.get(0)), blocked(claims.get(1)));
        write(postrider, "a", 2);
        List<LaneClaim> later = node.read();
        assertThat(numbers(later)).containsExactly(2);
        assertThat(keyBlocked(node.settle(blocked(later.get(0))).get(0))).isTrue();
        assertThat(node.timed()).as("not due").isEmpty();

        advance(Duration.ofMinutes(11));

        List<LaneClaim> waiting = node.timed();
        assertThat(numbers(waiting)).containsExactly(0, 1, 2);
        assertThat(waiting).allMatch(claim -> claim.place() == LaneClaim.Place.IN_BLOCKED_KEY);
        assertThat(waiting).extracting(claim -> claim.claim().attempt()).containsExactly(2, 1, 1);
        assertThat(keyBlocked(node.settle(delivered(waiting.get(0))).get(0))).isTrue();
        assertThat(states()).containsExactly("RETRY", "BLOCKED");
        assertThat(keyBlocked(node.deliver(waiting.subList(1, 3)).get(0))).isFalse();
        assertThat(live()).isZero();
    }

    @Test
    void oldestIsTheAgeOfAHeadThatIsRetryingOrParkedAndOfTheMessagesBehindIt() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        List<LaneClaim> claims = node.read();
        node.settle(retry(claims.get(0)), blocked(claims.get(1)));
        advance(Duration.ofMinutes(5));
        assertThat(oldest(postrider)).as("retrying").isBetween(Duration.ofMinutes(5), Duration.ofMinutes(6));
        advance(Duration.ofMinutes(6));
        LaneClaim head = node.timed().get(0);

        node.settle(new LaneOutcome.Parked(head.claim(), DeadReason.REJECTED, "no"));

        assertThat(states()).containsExactly("PARKED", "BLOCKED");
        assertThat(oldest(postrider)).as("parked").isBetween(Duration.ofMinutes(11), Duration.ofMinutes(12));
    }

    private Duration oldest(Postrider postrider) {
        return postrider.admin().status().stream()
                .filter(status -> status.topic().equals(TopicName.of(topic)))
                .findFirst()
                .orElseThrow()
                .oldest();
    }

    @Test
    void messagesWrittenWhileTheirKeyGoesOnComeAfterWhatWaited() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)));
        List<LaneClaim> waiting = node.timed();
        write(postrider, "a", 2);
        List<LaneClaim> joining = node.read();
        node.settle(delivered(waiting.get(0)));

        node.settle(blocked(joining.get(0)));

        assertThat(states()).containsExactly("RETRY", "BLOCKED");
        assertThat(node.timed()).as("the head is in flight").isEmpty();
        node.settle(released(waiting.get(1)));
        assertThat(numbers(node.timed())).containsExactly(1, 2);
    }

    @Test
    void messageThatIsRejectedAfterAnOlderOneOfItsKeyWasReplayedWaitsBehindThat() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2);
        List<LaneClaim> claims = node.read();
        node.settle(
                new Outcome.Buried(claims.get(0).claim(), DeadReason.FAILED, "no"),
                retryAtOnce(claims.get(1)),
                blocked(claims.get(2)));
        List<LaneClaim> waiting = node.timed();
        assertThat(numbers(waiting)).containsExactly(1, 2);
        postrider.admin().replay(claims.get(0).claim().message().id(), "ann");

        node.settle(
                delivered(waiting.get(0)), new LaneOutcome.Parked(waiting.get(1).claim(), DeadReason.REJECTED, "no"));

        assertThat(states()).containsExactly("RETRY", "PARKED");
        List<LaneClaim> replayed = node.timed();
        assertThat(numbers(replayed)).containsExactly(0);
        assertThat(keyBlocked(node.settle(delivered(replayed.get(0))).get(0))).isTrue();
        assertThat(node.timed()).isEmpty();
        assertThat(states()).containsExactly("PARKED");
    }

    @Test
    void messageThatWaitedAndIsInTheOrderAgainIsReadThereOnceItIsNoLongerInFlight() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        LaneClaim head = inTheOrderAgain(postrider, node);

        node.settle(released(head));

        assertThat(numbers(node.read())).containsExactly(0);
    }

    @Test
    void noReadBeginsAboveAMessageThatWaitedAndIsInTheOrderAgain() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        inTheOrderAgain(postrider, node);
        assertThat(node.renew()).isTrue();

        assertThat(numbers(takeOver().read())).containsExactly(0);
    }

    /**
     * Returns a head that is in flight on this node and {@code PENDING} in the table. A failover to a standby without the last commits
     * causes this.
     */
    private LaneClaim inTheOrderAgain(Postrider postrider, Holder node) throws SQLException {
        LaneClaim head = headInFlight(postrider, node);
        execute("UPDATE postrider_message SET state = 'PENDING' WHERE topic = '" + topic + "'");
        for (int number = 1; number <= 3; number++) {
            write(postrider, "b", number);
            List<LaneClaim> others = node.read();
            assertThat(numbers(others)).as("not the one in flight").containsExactly(number);
            node.deliver(others);
        }
        return head;
    }

    @Test
    void blockedKeyThatEndsBeforeAMessageJoinsItMakesThatTheHead() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        LaneClaim head = headInFlight(postrider, node);
        write(postrider, "a", 1, 2);
        List<LaneClaim> joining = node.read();

        assertThat(keyBlocked(node.settle(delivered(head)).get(0))).isFalse();
        List<Settlement> joined = node.settle(blocked(joining.get(0)), blocked(joining.get(1)));

        assertThat(keyBlocked(joined.get(0))).as("it is the head itself").isFalse();
        assertThat(states().get(0)).isEqualTo("RETRY");
        assertThat(numbers(node.timed())).containsExactly(1, 2);
    }

    @Test
    void blockedKeyThatEndsAfterAMessageJoinedItContinuesWithThatMessage() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        LaneClaim head = headInFlight(postrider, node);
        write(postrider, "a", 1);
        List<LaneClaim> joining = node.read();

        assertThat(keyBlocked(node.settle(blocked(joining.get(0))).get(0))).isTrue();
        assertThat(keyBlocked(node.settle(delivered(head)).get(0))).isTrue();

        assertThat(states()).containsExactly("RETRY");
        assertThat(numbers(node.timed())).containsExactly(1);
    }

    @Test
    void endOfABlockedKeyAndAMessageThatJoinsItMayComeInOneBatchInAnyOrder() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        for (boolean headFirst : List.of(true, false)) {
            LaneClaim head = headInFlight(postrider, node);
            write(postrider, "a", 1);
            LaneClaim joining = node.read().get(0);

            List<Settlement> settlements = headFirst
                    ? node.settle(delivered(head), blocked(joining))
                    : node.settle(blocked(joining), delivered(head));

            assertThat(keyBlocked(settlements.get(headFirst ? 0 : 1))).isTrue();
            assertThat(states()).containsExactly("RETRY");
            List<LaneClaim> next = node.timed();
            assertThat(numbers(next)).containsExactly(1);
            node.deliver(next);
        }
    }

    @Test
    void endOfABlockedKeyAndAMessageThatJoinsItAtTheSameTimeLeaveTheKeyAHead() throws Exception {
        needsConcurrency();
        Postrider postrider = ordered();
        Holder node = holder();
        for (int round = 0; round < 20; round++) {
            LaneClaim head = headInFlight(postrider, node);
            write(postrider, "a", 1);
            LaneClaim joining = node.read().get(0);
            CyclicBarrier together = new CyclicBarrier(2);

            CompletableFuture<?> ends = CompletableFuture.runAsync(() -> {
                await(together);
                node.settle(delivered(head));
            });
            CompletableFuture<?> joins = CompletableFuture.runAsync(() -> {
                await(together);
                node.settle(blocked(joining));
            });
            CompletableFuture.allOf(ends, joins).get(SOON.toSeconds(), TimeUnit.SECONDS);

            assertThat(states()).containsExactly("RETRY");
            List<LaneClaim> next = node.timed();
            assertThat(numbers(next)).containsExactly(1);
            node.deliver(next);
        }
    }

    @Test
    void headThatFailsAgainStaysTheHeadAndThoseBehindItAreNotTried() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), blocked(claims.get(2)));
        List<LaneClaim> waiting = node.timed();

        node.settle(delivered(waiting.get(0)), retry(waiting.get(1)), released(waiting.get(2)));

        assertThat(states()).containsExactly("RETRY", "BLOCKED");
        assertThat(attempts()).containsExactly("1", "0");
        assertThat(node.timed()).isEmpty();
        advance(Duration.ofMinutes(11));
        assertThat(numbers(node.timed())).containsExactly(1, 2);
    }

    @Test
    void headThatIsBuriedLetsTheNextMessageBeTheHead() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), blocked(claims.get(2)));
        List<LaneClaim> waiting = node.timed();

        List<Settlement> settlements = node.settle(
                new Outcome.Buried(waiting.get(0).claim(), DeadReason.REJECTED, "no"),
                new LaneOutcome.RetryOutOfOrder(waiting.get(1).claim(), Duration.ofMinutes(1), "busy"));

        assertThat(keyBlocked(settlements.get(0))).isTrue();
        assertThat(states()).containsExactly("DEAD", "SCHEDULED", "RETRY");
    }

    @Test
    void secondBuryOfAHeadDoesNothingToTheMessageThatIsTheHeadByThen() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        List<LaneClaim> claims = node.read();
        node.settle(new LaneOutcome.Parked(claims.get(0).claim(), DeadReason.FAILED, "no"), blocked(claims.get(1)));
        MessageId head = postrider.admin().blockedKeys(topic, 10).get(0).head();

        assertThat(postrider.admin().bury(topic, null, "a", head, "ann")).isEqualTo(Repair.DONE);
        assertThat(postrider.admin().bury(topic, null, "a", head, "bob")).isEqualTo(Repair.NOT_FOUND);

        assertThat(states()).containsExactly("DEAD", "RETRY");
        assertThat(list("SELECT operator FROM postrider_audit WHERE topic = '" + topic + "'"))
                .containsExactly("ann");
        assertThat(numbers(node.timed())).containsExactly(1);
    }

    @Test
    void secondRetryOfAKeyLosesNothingAndOvertakesNothing() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        List<LaneClaim> claims = node.read();
        node.settle(new LaneOutcome.Parked(claims.get(0).claim(), DeadReason.FAILED, "no"), blocked(claims.get(1)));

        assertThat(postrider.admin().retry(topic, null, "a", "ann")).isEqualTo(Repair.DONE);
        assertThat(postrider.admin().retry(topic, null, "a", "bob")).isEqualTo(Repair.DONE);

        assertThat(states()).containsExactly("RETRY", "BLOCKED");
        List<LaneClaim> waiting = node.timed();
        assertThat(numbers(waiting)).containsExactly(0, 1);
        node.settle(delivered(waiting.get(0)), released(waiting.get(1)));
        assertThat(postrider.admin().retry(topic, null, "a", "bob"))
                .as("the next one is due anyway")
                .isEqualTo(Repair.DONE);
        assertThat(numbers(node.timed())).containsExactly(1);
    }

    @Test
    void parkedHeadStopsItsKeyAndAnotherThatIsParkedBehindAHeadStopsItThere() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1, 2);
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), blocked(claims.get(2)));
        execute("UPDATE postrider_message SET state = 'PARKED', reason = 'FAILED' WHERE seq = "
                + claims.get(1).claim().seq());

        List<LaneClaim> waiting = node.timed();
        assertThat(numbers(waiting)).as("up to the one that is parked").containsExactly(0);

        assertThat(keyBlocked(node.deliver(waiting).get(0))).isTrue();
        assertThat(states()).containsExactly("PARKED", "BLOCKED");
        assertThat(node.timed()).isEmpty();
    }

    @Test
    void lateCommitBelowTheHeadBecomesTheHeadAndTheKeyStaysBlocked() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        LaneClaim head;
        try (Connection slow = transaction()) {
            write(postrider, slow, "a", 5);
            head = headInFlight(postrider, node);
            slow.commit();
        }
        LaneClaim late = node.read().get(0);
        assertThat(number(late.claim().message())).isEqualTo(5);
        assertThat(keyBlocked(node.settle(blocked(late)).get(0))).isFalse();

        assertThat(keyBlocked(node.settle(delivered(head)).get(0)))
                .as("the late one still waits")
                .isTrue();

        assertThat(states()).containsExactly("RETRY");
        assertThat(numbers(node.timed())).containsExactly(5);
    }

    @Test
    void sameKeyOfTwoTopicsIsTwoKeys() throws SQLException {
        String other = topic + "-other";
        Postrider postrider = ordered(topic, other);
        LaneStore store = store();
        Holder here = take(store, topic);
        Holder there = take(store, other);
        write(postrider, "a", 0, 1);
        for (int i = 0; i < 2; i++) {
            enqueue(
                    postrider,
                    Message.to(other)
                            .type("x")
                            .key("a")
                            .json("{\"n\":" + i + "}")
                            .build());
        }
        for (Holder node : List.of(here, there)) {
            List<LaneClaim> claims = node.read();
            node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)));
        }
        LaneClaim headHere = here.timed().get(0);
        LaneClaim headThere = there.timed().get(0);

        List<Settlement> settlements = store.settle(List.of(delivered(headHere), delivered(headThere)));

        assertThat(settlements).allMatch(LaneFixture::keyBlocked);
        assertThat(list("SELECT state FROM postrider_message WHERE topic IN ('" + topic + "', '" + other + "')"))
                .containsExactly("RETRY", "RETRY");
    }

    @Test
    void sameKeyOfTwoTopicsIsJoinedInEach() throws SQLException {
        String other = topic + "-other";
        Postrider postrider = ordered(topic, other);
        LaneStore store = store();
        Holder here = take(store, topic);
        Holder there = take(store, other);
        LaneClaim head = headInFlight(postrider, here);
        write(postrider, "a", 1);
        enqueue(
                postrider,
                Message.to(other).type("x").key("a").json("{\"n\":1}").build());

        List<Settlement> settlements = store.settle(
                List.of(blocked(here.read().get(0)), blocked(there.read().get(0))));

        assertThat(keyBlocked(settlements.get(0))).as("behind %s", head).isTrue();
        assertThat(keyBlocked(settlements.get(1)))
                .as("no other message waits there")
                .isFalse();
        assertThat(query("SELECT state FROM postrider_message WHERE topic = '" + other + "'"))
                .isEqualTo("RETRY");
    }

    @Test
    void sameKeyOfTwoTenantsIsTwoKeys() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        for (String tenant : List.of("x", "y")) {
            enqueue(postrider, ordered("a", 0).tenant(tenant).build());
            enqueue(postrider, ordered("a", 1).tenant(tenant).build());
        }
        write(postrider, "a", 7);
        List<LaneClaim> claims = node.read();
        assertThat(numbers(claims)).containsExactly(0, 1, 0, 1, 7);

        node.settle(
                retryAtOnce(claims.get(0)), blocked(claims.get(1)), delivered(claims.get(2)), delivered(claims.get(4)));

        assertThat(states()).containsExactly("RETRY", "BLOCKED", "PENDING");
        node.deliver(node.timed().subList(0, 1));
        assertThat(states()).containsExactly("RETRY", "PENDING");
    }

    @Test
    void newOwnerLoadsTheBlockedKeysAndItsMessagesJoinThem() throws SQLException {
        Postrider postrider = ordered();
        Holder lost = holder();
        write(postrider, "a", 0);
        write(postrider, "parked", 1);
        write(postrider, "free", 2);
        List<LaneClaim> claims = lost.read();
        lost.settle(retry(claims.get(0)), new LaneOutcome.Parked(claims.get(1).claim(), DeadReason.FAILED, "no"));
        write(postrider, "a", 3);

        Holder owner = takeOver();

        assertThat(owner.lane().blockedKeys())
                .containsExactlyInAnyOrder(new OrderingKey(null, "a"), new OrderingKey(null, "parked"));
        List<LaneClaim> hot = owner.read();
        assertThat(numbers(hot)).containsExactly(2, 3);
        assertThat(keyBlocked(
                        owner.settle(delivered(hot.get(0)), blocked(hot.get(1))).get(1)))
                .isTrue();
        advance(Duration.ofMinutes(11));
        assertThat(owner.renew()).isTrue();
        assertThat(numbers(owner.timed())).containsExactly(0, 3);
    }

    @Test
    void ownerThatIsLostInTheMiddleOfAKeyLeavesItInOrder() throws SQLException {
        Postrider postrider = ordered();
        Holder lost = holder();
        write(postrider, "a", 0, 1, 2, 3);
        List<LaneClaim> claims = lost.read();
        lost.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)));
        lost.deliver(lost.timed().subList(0, 1));

        Holder owner = takeOver();

        assertThat(owner.lane().blockedKeys()).containsExactly(new OrderingKey(null, "a"));
        List<LaneClaim> hot = owner.read();
        assertThat(numbers(hot)).containsExactly(2, 3);
        owner.settle(blocked(hot.get(0)), blocked(hot.get(1)));
        assertThat(numbers(owner.timed())).containsExactly(1, 2, 3);
    }

    /**
     * A node that is lost after its handler removed the head leaves this state. The next owner of the lane may release the lane before it
     * continues the key.
     */
    @Test
    void keyWithoutAHeadGoesOnAlsoInALaneThatWasGivenBackInGoodOrder() throws SQLException {
        Postrider postrider = ordered();
        Holder lost = holder();
        write(postrider, "a", 0, 1, 2);
        List<LaneClaim> claims = lost.read();
        lost.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), blocked(claims.get(2)));
        execute("DELETE FROM postrider_message WHERE state = 'RETRY' AND topic = '" + topic + "'");
        lost.store().release(Set.of(lost.lane()));

        Holder owner = holder();

        assertThat(owner.lane().blockedKeys()).containsExactly(new OrderingKey(null, "a"));
        assertThat(numbers(owner.timed())).containsExactly(1, 2);
    }

    @Test
    void messagesOutOfOrderBlockNothing() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0);
        node.settle(new LaneOutcome.RetryOutOfOrder(node.read().get(0).claim(), Duration.ZERO, "busy"));
        write(postrider, "a", 1);

        assertThat(numbers(node.read())).containsExactly(1);
        List<LaneClaim> beside = node.timed();
        assertThat(beside).hasSize(1).allMatch(claim -> claim.place() == LaneClaim.Place.OUT_OF_ORDER);
        assertThat(keyBlocked(node.deliver(beside).get(0))).isFalse();
        assertThat(states()).containsExactly("PENDING");
    }

    @Test
    void longKeyIsReadInPartsAndInOrder() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        int[] numbers = new int[130];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i;
        }
        write(postrider, "a", numbers);
        List<LaneClaim> claims = node.read(200, 1024 * 1024);
        node.settle(retryAtOnce(claims.get(0)));
        node.store()
                .settle(claims.subList(1, claims.size()).stream()
                        .map(LaneFixture::blocked)
                        .toList());

        int next = 0;
        while (live() > 0) {
            List<LaneClaim> part = node.timed();
            for (LaneClaim claim : part) {
                assertThat(number(claim.claim().message())).isEqualTo(next++);
            }
            node.deliver(part);
        }
        assertThat(next).isEqualTo(130);
    }

    /** There are more dead letters than one read examines. The oldest replay is of the newest message, which is not the head. */
    @Test
    void replayOfManyDeadLettersNewestFirstDelaysNeitherTheirKeyNorAnother() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        int[] numbers = IntStream.range(0, 45).toArray();
        write(postrider, "a", numbers);
        write(postrider, "b", 100);
        List<LaneClaim> claims = node.read();
        List<LaneClaim> dead = claims.subList(0, 45);
        node.store()
                .settle(dead.stream()
                        .map(claim -> (LaneOutcome) new Outcome.Buried(claim.claim(), DeadReason.FAILED, "no"))
                        .toList());
        for (int i = 44; i >= 0; i--) {
            postrider.admin().replay(dead.get(i).claim().message().id(), "ann");
        }
        node.settle(retryAtOnce(claims.get(45)));

        List<LaneClaim> due = node.timed();

        assertThat(numbers(due)).contains(0, 1, 2, 100);
        assertThat(numbers(due).stream().filter(number -> number < 100)).isSorted();
        assertThat(states().stream().filter("RETRY"::equals))
                .as("one head for each key")
                .hasSize(2);
    }

    @Test
    void keyWithManyMessagesToRetryBehindAParkedOneDoesNotDelayAnother() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", IntStream.range(0, 45).toArray());
        write(postrider, "b", 100);
        List<LaneClaim> claims = node.read();
        node.settle(new LaneOutcome.Parked(claims.get(0).claim(), DeadReason.FAILED, "no"));
        node.store()
                .settle(claims.subList(1, 45).stream().map(LaneFixture::blocked).toList());
        execute("UPDATE postrider_message SET state = 'RETRY' WHERE state = 'BLOCKED' AND topic = '" + topic + "'");
        node.settle(retryAtOnce(claims.get(45)));

        assertThat(numbers(node.timed())).containsExactly(100);
    }

    /** Returns message 0 of key a. The message failed once and is in flight again. No other message waits. */
    private static LaneClaim headInFlight(Holder node) {
        node.settle(retryAtOnce(node.read().get(0)));
        return node.timed().get(0);
    }

    private LaneClaim headInFlight(Postrider postrider, Holder node) throws SQLException {
        write(postrider, "a", 0);
        return headInFlight(node);
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(SOON.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
