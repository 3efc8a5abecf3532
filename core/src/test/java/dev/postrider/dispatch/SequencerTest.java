package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneClaim.Place;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SequencerTest {

    private static final Duration PATIENCE = LaneRig.LEASE.dividedBy(6);

    private final LaneRig rig = new LaneRig();

    @Test
    void oneOfAKeyIsSentAtATimeAndDifferentKeysSideBySide() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        LaneClaim second = rig.next(lane, "a");
        LaneClaim other = rig.next(lane, "b");
        rig.offer(first, second, other);
        assertThat(rig.sent()).containsExactly("1", "3");

        rig.deliver(first);

        assertThat(rig.sent()).as("when the answer is known, written or not").containsExactly("1", "3", "2");
        rig.deliver(second);
        rig.deliver(other);
        rig.write();
        assertThat(rig.written).extracting(outcome -> outcome.claim().seq()).containsExactly(1L, 2L, 3L);
        assertThat(rig.inFlight.count()).isZero();
    }

    @Test
    void nextMessageOfABlockedKeyWaitsForTheWrittenOutcomeOfTheOneBefore() {
        Lane lane = rig.take(new OrderingKey(null, "a"));
        LaneClaim head = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        LaneClaim behind = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        rig.offer(head, behind);

        rig.decide(head, new Outcome.Handled(head.claim()));
        rig.offer(rig.next(lane, "a", Place.IN_BLOCKED_KEY));
        assertThat(rig.sent()).containsExactly("1");

        rig.write();
        assertThat(rig.sent()).containsExactly("1", "2");
    }

    @Test
    void keyThatWaitsForAnOutcomeToBeWrittenDoesNotWaitForMoreOutcomes() {
        Lane lane = rig.take(new OrderingKey(null, "a"));
        LaneClaim head = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        rig.offer(head, rig.next(lane, "a", Place.IN_BLOCKED_KEY));
        rig.decide(head, new Outcome.Handled(head.claim()));

        rig.writer.runOnce();

        assertThat(rig.written).as("at once").containsExactly(new Outcome.Handled(head.claim()));
        assertThat(rig.sent()).containsExactly("1", "2");
    }

    @Test
    void messageThatIsReadAgainBeforeItsLastOutcomeIsKnownToBeWrittenIsInFlight() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        rig.offer(first);
        rig.fail(first);
        rig.settle = outcomes -> {
            rig.offer(LaneRig.claim(lane, first.claim().seq(), first.claim().message(), Place.IN_BLOCKED_KEY, 2));
            return outcomes.stream()
                    .<Settlement>map(outcome -> new Settlement.Settled(outcome.claim()))
                    .toList();
        };

        rig.write();

        assertThat(rig.sequencer.inFlight())
                .containsEntry(lane, Set.of(first.claim().seq()));
    }

    @Test
    void nextInOrderIsSentAsSoonAsTheOneBeforeWasHandled() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        rig.offer(first, rig.next(lane, "a"));

        rig.decide(first, new Outcome.Handled(first.claim()));

        assertThat(rig.sent()).containsExactly("1", "2");
    }

    @Test
    void keyOfAMessageThatWentToAnotherNodeIsReadAgain() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        LaneClaim second = rig.next(lane, "a");
        rig.offer(first, second);
        rig.settle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> outcome instanceof Outcome.Lost
                        ? new Settlement.LeaseLost(outcome.claim(), true)
                        : new Settlement.Settled(outcome.claim()))
                .toList();

        rig.decide(first, new Outcome.Lost(first.claim()));
        assertThat(rig.sent()).as("what is behind it may be another node's").containsExactly("1");
        rig.write();

        assertThat(rig.written).hasSize(2).hasAtLeastOneElementOfType(Outcome.Released.class);
        rig.offer(rig.next(lane, "a"));
        assertThat(rig.sent()).containsExactly("1", "3");
    }

    @Test
    void failureLetsThoseBehindItJoinItAndSendsNoneOfThem() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        LaneClaim second = rig.next(lane, "a");
        LaneClaim third = rig.next(lane, "a");
        rig.offer(first, second);

        rig.fail(first);
        rig.offer(third);
        rig.write();
        rig.offer(rig.next(lane, "a"));
        rig.write();

        assertThat(rig.sent()).containsExactly("1");
        assertThat(rig.written.get(0)).isInstanceOf(Outcome.Retry.class);
        assertThat(rig.written.subList(1, 4)).allMatch(LaneOutcome.Blocked.class::isInstance);
        assertThat(rig.written).extracting(outcome -> outcome.claim().seq()).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void whatIsReadWhileAMessageFailsJoinsItsKeyAfterThoseBehindIt() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        rig.offer(first, rig.next(lane, "a"), rig.next(lane, "a"));
        LaneClaim fourth = rig.next(lane, "a");
        Thread reader = rig.intrude(LaneOutcome.Blocked.class, () -> rig.offer(fourth));

        rig.fail(first);
        LaneRig.join(reader, Duration.ofSeconds(10));
        rig.write();

        assertThat(rig.written).extracting(outcome -> outcome.claim().seq()).containsExactly(1L, 2L, 3L, 4L);
    }

    @Test
    void keyGoesOnWhenAMessageIsPutBackInTheMomentThatItIsGivenUp() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        rig.offer(first);
        Thread writer = rig.intrude(Outcome.Released.class, rig::write);

        rig.decide(first, new Outcome.Released(first.claim()));
        LaneRig.join(writer, Duration.ofSeconds(10));
        rig.offer(first);

        assertThat(rig.sent()).containsExactly("1", "1");
    }

    @Test
    void failureOfAMessageOfABlockedKeyReleasesTheMessagesBehindIt() {
        Lane lane = rig.take(new OrderingKey(null, "a"));
        LaneClaim head = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        LaneClaim behind = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        rig.offer(head, behind);
        assertThat(rig.sent()).containsExactly("1");

        rig.fail(head);
        rig.write();

        assertThat(rig.sent()).containsExactly("1");
        assertThat(rig.written)
                .hasAtLeastOneElementOfType(Outcome.Released.class)
                .hasSize(2);
    }

    @Test
    void keyThatWasBlockedWhenTheLaneWasAcquiredIsJoined() {
        Lane lane = rig.take(new OrderingKey(null, "a"));

        rig.offer(rig.next(lane, "a"), rig.next(lane, "b"));
        rig.write();

        assertThat(rig.sent()).containsExactly("2");
        assertThat(rig.written).singleElement().isInstanceOf(LaneOutcome.Blocked.class);
    }

    @Test
    void blockedKeyEndsWhenNoMessageWaitsInIt() {
        Lane lane = rig.take(new OrderingKey(null, "a"));
        LaneClaim head = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        rig.offer(head);
        rig.deliver(head);
        rig.settle = outcomes -> List.of(new Settlement.Settled(head.claim(), false));
        rig.write();

        rig.offer(rig.next(lane, "a"));

        assertThat(rig.sent()).containsExactly("1", "2");
    }

    @Test
    void blockedKeyDoesNotEndWhileAMessageIsOnItsWayToJoinIt() {
        Lane lane = rig.take(new OrderingKey(null, "a"));
        LaneClaim head = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        rig.offer(head);
        rig.deliver(head);
        rig.settle = outcomes -> {
            rig.settle = later -> List.of(new Settlement.Settled(later.get(0).claim(), false));
            rig.offer(rig.next(lane, "a")); // between the writing and the news of it
            return List.of(new Settlement.Settled(head.claim(), false));
        };
        rig.write();

        rig.offer(rig.next(lane, "a"));

        assertThat(rig.sent()).as("the second waits in the database by now").containsExactly("1");
        rig.write();
        assertThat(rig.looks).as("it is its own head: look for it").contains(true);
    }

    /** Another session has locked the row of the failed message, and an operator replays an earlier message of the key meanwhile. */
    @Test
    void keyStaysBlockedWhileTheFailureOfItsMessageIsNotWritten() {
        Lane lane = rig.take();
        LaneClaim replayed = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        LaneClaim failed = rig.next(lane, "a");
        rig.offer(failed);
        rig.fail(failed);
        rig.offer(replayed);
        rig.deliver(replayed);
        rig.settle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> outcome instanceof Outcome.Retry
                        ? new Settlement.Locked(outcome.claim())
                        : new Settlement.Settled(outcome.claim(), false))
                .toList();
        rig.write();

        rig.offer(rig.next(lane, "a"));

        assertThat(rig.sent()).containsExactly("2", "1");
    }

    @Test
    void keyStopsWhileOneOfItIsBeingPutBack() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        LaneClaim second = rig.next(lane, "a");
        rig.time.pass(LaneRig.LAST_START);
        rig.offer(first, second);
        rig.sequencer.renewed(lane, LeaseValidity.Stamp.now(rig.time));
        LaneClaim third = rig.next(lane, "a");

        rig.offer(third);
        assertThat(rig.sent()).isEmpty();
        rig.write();

        assertThat(rig.written).hasSize(3).allMatch(Outcome.Released.class::isInstance);
        assertThat(rig.looks).containsOnly(true);
        rig.offer(first, second, third);
        assertThat(rig.sent()).containsExactly("1");
    }

    @Test
    void whatAReadFoundIsNotSentBeforeWhatWasPutBackMeanwhile() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        LaneClaim second = rig.next(lane, "a");
        rig.time.pass(LaneRig.LAST_START);
        rig.offer(first);
        rig.sequencer.renewed(lane, LeaseValidity.Stamp.now(rig.time));

        rig.sequencer.beginRead(); // leaves out the first, which is in flight
        rig.write(); // and now it is not
        rig.offer(second);
        rig.sequencer.endRead();
        rig.write();

        assertThat(rig.sent()).isEmpty();
        rig.offer(first, second);
        assertThat(rig.sent()).containsExactly("1");
    }

    @Test
    void lostLaneIsNotSentFromAndItsMessagesAreForgotten() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        rig.offer(first, rig.next(lane, "a"), rig.next(lane, "b"));

        rig.sequencer.lose(lane);
        rig.deliver(first);

        assertThat(rig.sent()).containsExactly("1", "3");
        assertThat(rig.sequencer.lanes()).isEmpty();
        assertThat(rig.sequencer.freeCapacity()).isEmpty();
        rig.open.values().forEach(answer -> answer.complete(DeliveryResult.delivered()));
        rig.write();
        assertThat(rig.inFlight.count()).isZero();
    }

    @Test
    void lossThatAnOutcomeRevealsStopsTheLane() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        LaneClaim other = rig.next(lane, "b");
        LaneClaim behind = rig.next(lane, "b");
        rig.offer(first, other, behind);
        rig.settle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> new Settlement.LeaseLost(outcome.claim(), false))
                .toList();
        rig.deliver(first);

        rig.write();
        rig.deliver(other);

        assertThat(rig.sent()).containsExactly("1", "2");
        assertThat(rig.sequencer.lanes()).isEmpty();
        rig.write();
        assertThat(rig.inFlight.count()).isZero();
        assertThat(rig.events).hasAtLeastOneElementOfType(Event.LeaseLost.class);
    }

    @Test
    void laneThatWasLostAndRegainedTakesNothingOfTheOldLease() {
        Lane old = rig.take();
        LaneClaim stale = rig.next(old, "a");
        rig.sequencer.lose(old);
        Lane lane = rig.take();

        rig.offer(stale, rig.next(lane, "a"));

        assertThat(rig.sent()).containsExactly("2");
    }

    @Test
    void closePutsBackWhatWaitsItsTurnAndLetsTheOthersEnd() {
        LaneRig narrow = new LaneRig(1);
        Lane lane = narrow.take();
        LaneClaim first = narrow.next(lane, "a");
        narrow.offer(first, narrow.next(lane, "a"), narrow.next(lane, "b"));

        narrow.sequencer.close();
        narrow.offer(narrow.next(lane, "c"));
        assertThat(narrow.sequencer.removeDrained()).isEmpty();
        narrow.deliver(first);
        narrow.write();

        assertThat(narrow.sent()).containsExactly("1");
        assertThat(narrow.written)
                .filteredOn(Outcome.Released.class::isInstance)
                .hasSize(3);
        assertThat(narrow.written)
                .filteredOn(Outcome.Delivered.class::isInstance)
                .hasSize(1);
        assertThat(narrow.sequencer.removeDrained()).containsExactly(lane);
    }

    @Test
    void messagesWaitInTheirOrderUntilOutcomesAreWrittenAndSlotsFree() {
        LaneRig narrow = new LaneRig(2);
        Lane lane = narrow.take();
        LaneClaim first = narrow.next(lane, "a");
        narrow.offer(first, narrow.next(lane, "b"), narrow.next(lane, "c"), narrow.next(lane, "d"));
        assertThat(narrow.sent()).containsExactly("1", "2");

        narrow.deliver(first);
        assertThat(narrow.sent())
                .as("it would come again if the node were lost")
                .containsExactly("1", "2");

        narrow.write();

        assertThat(narrow.sent()).containsExactly("1", "2", "3");
        assertThat(narrow.inFlight.count()).isEqualTo(3);
    }

    @Test
    void messageBesideTheOrderFailsWithoutHoldingItsKey() {
        Lane lane = rig.take();
        LaneClaim beside = rig.next(lane, "a", Place.OUT_OF_ORDER);
        LaneClaim inOrder = rig.next(lane, "a");
        rig.offer(beside, inOrder);
        assertThat(rig.sent()).as("still one of a key at a time").containsExactly("1");

        rig.fail(beside);

        assertThat(rig.sent()).containsExactly("1", "2");
        rig.deliver(inOrder);
        rig.write();
        assertThat(rig.written.get(0)).isInstanceOf(LaneOutcome.RetryOutOfOrder.class);
    }

    @Test
    void replayedMessageGoesBehindTheMessagesInFlightOfItsKey() {
        Lane lane = rig.take();
        LaneClaim underWay = rig.next(lane, "a");
        LaneClaim behind = rig.next(lane, "a");
        rig.offer(underWay, behind);
        LaneClaim replayed = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        rig.offer(replayed);
        LaneClaim later = rig.next(lane, "a");
        rig.offer(later);

        rig.deliver(underWay);
        rig.deliver(behind);
        rig.deliver(replayed);

        assertThat(rig.sent()).containsExactly("1", "2", "3", "4");
        rig.write();
        assertThat(rig.written).hasSize(3).allMatch(Outcome.Delivered.class::isInstance);
    }

    /** Or else it would be read again after those that have joined: they wait in the database as what was tried. */
    @Test
    void nothingJoinsAReplayedMessageBeforeWhatIsAheadOfItHasItsOutcome() {
        Lane lane = rig.take();
        rig.inFlight.closeSlots();
        rig.offer(rig.next(lane, "a"), rig.next(lane, "a"));
        rig.offer(rig.next(lane, "a", Place.IN_BLOCKED_KEY));
        rig.offer(rig.next(lane, "a"));

        rig.sequencer.limitLanes(0, PATIENCE);
        rig.write();

        assertThat(rig.sent()).isEmpty();
        assertThat(rig.written).hasSize(4).allMatch(Outcome.Released.class::isInstance);
    }

    @Test
    void whatIsBehindAReplayedMessageJoinsItWhenItFails() {
        Lane lane = rig.take();
        LaneClaim underWay = rig.next(lane, "a");
        LaneClaim replayed = rig.next(lane, "a", Place.IN_BLOCKED_KEY);
        LaneClaim later = rig.next(lane, "a");
        rig.offer(underWay);
        rig.offer(replayed);
        rig.offer(later);

        rig.deliver(underWay);
        rig.fail(replayed);
        rig.write();

        assertThat(rig.sent()).containsExactly("1", "2");
        assertThat(rig.written.get(1)).isInstanceOf(Outcome.Retry.class);
        assertThat(rig.written.get(2)).isEqualTo(new LaneOutcome.Blocked(later.claim()));
    }

    @Test
    void laneIsNotReadWhenItsLeaseIsOldAndSurplusIsGivenUpWhenItIsDry() {
        Lane lane = rig.take();
        LaneClaim first = rig.next(lane, "a");
        rig.offer(first);
        assertThat(rig.sequencer.freeCapacity()).containsKey(lane);
        rig.time.pass(LaneRig.LAST_START);
        assertThat(rig.sequencer.freeCapacity()).isEmpty();
        rig.sequencer.renewed(lane, LeaseValidity.Stamp.now(rig.time));
        assertThat(rig.sequencer.freeCapacity()).containsKey(lane);

        rig.sequencer.limitLanes(0, PATIENCE);

        assertThat(rig.sequencer.freeCapacity()).isEmpty();
        assertThat(rig.sequencer.stayingLanes()).isZero();
        assertThat(rig.sequencer.removeDrained()).as("one is in flight").isEmpty();
        rig.deliver(first);
        assertThat(rig.sequencer.removeDrained())
                .as("and its outcome is not written")
                .isEmpty();
        rig.write();
        assertThat(rig.sequencer.hasDrained()).isTrue();
        assertThat(rig.sequencer.removeDrained()).containsExactly(lane);
    }

    @Test
    void laneThatIsGivenUpWaitsOnlyForWhatWasSent() {
        Lane lane = rig.take();
        LaneClaim sent = rig.next(lane, "a");
        rig.offer(sent, rig.next(lane, "a"), rig.next(lane, "a"));

        rig.sequencer.limitLanes(0, PATIENCE);
        rig.offer(rig.next(lane, "b"));
        rig.deliver(sent);
        rig.write();

        assertThat(rig.sent()).as("nothing more was begun").containsExactly("1");
        assertThat(rig.written).filteredOn(Outcome.Released.class::isInstance).hasSize(3);
        assertThat(rig.sequencer.removeDrained()).containsExactly(lane);
    }

    @Test
    void slowDeliveryInALaneThatIsToGoKeepsOtherKeysWaitingForABoundedTimeOnly() {
        Lane lane = rig.take();
        LaneClaim slow = rig.next(lane, "a");
        rig.offer(slow);
        assertThat(rig.sequencer.limitLanes(0, PATIENCE)).isFalse();
        rig.time.pass(PATIENCE);
        rig.sequencer.renewed(lane, LeaseValidity.Stamp.now(rig.time));

        assertThat(rig.sequencer.limitLanes(0, PATIENCE)).as("to be read again").isTrue();

        assertThat(rig.sequencer.freeCapacity()).containsKey(lane);
        LaneClaim other = rig.next(lane, "b");
        rig.offer(other, rig.next(lane, "a"));
        assertThat(rig.sent()).as("one of a key at a time").containsExactly("1", "2");
        rig.deliver(other);
        rig.write();
        rig.time.pass(LaneRig.LEASE.multipliedBy(2));
        rig.sequencer.limitLanes(0, PATIENCE);
        assertThat(rig.sequencer.stayingLanes())
                .as("the slow one has not ended")
                .isEqualTo(1);
    }

    @Test
    void laneThatCouldNotGoIsTriedAgainWhenItsSlowDeliveryHasEndedAndAfterARest() {
        Lane lane = rig.take();
        LaneClaim slow = rig.next(lane, "a");
        rig.offer(slow);
        rig.sequencer.limitLanes(0, PATIENCE);
        rig.time.pass(PATIENCE);
        rig.sequencer.limitLanes(0, PATIENCE);
        rig.sequencer.renewed(lane, LeaseValidity.Stamp.now(rig.time));
        rig.offer(rig.next(lane, "b"));
        rig.deliver(slow);
        rig.write();
        rig.sequencer.limitLanes(0, PATIENCE);
        assertThat(rig.sequencer.stayingLanes()).as("it has just been tried").isEqualTo(1);

        rig.time.pass(LaneRig.LEASE);
        rig.sequencer.limitLanes(0, PATIENCE);

        assertThat(rig.sequencer.stayingLanes()).isZero();
    }

    @Test
    void laneThatWasToBeGivenUpIsKeptWhenTheShareGrowsInTime() {
        Lane lane = rig.take();
        rig.offer(rig.next(lane, "a"));
        rig.sequencer.limitLanes(0, PATIENCE);

        rig.sequencer.limitLanes(1, PATIENCE);

        assertThat(rig.sequencer.freeCapacity()).containsKey(lane);
        rig.time.pass(Duration.ofMillis(1));
        assertThat(rig.sequencer.removeDrained()).isEmpty();
    }
}
