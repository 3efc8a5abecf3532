package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

final class IsolatedDeliveryTest {

    private static final int SLOTS = 4;

    private final LaneRig rig = new LaneRig(SLOTS);
    private final FakeLanes lanes = new FakeLanes();
    private final Lane lane = rig.take();
    private final List<String> sentBeforeWriting = new ArrayList<>();
    private final Function<List<LaneOutcome>, List<Settlement>> settled = rig.settle;
    private final IsolatedDelivery isolated = isolated(List.of(rig.sequencer));

    private IsolatedDelivery isolated(List<Sequencer> sequencers) {
        return isolated(sequencers, new Writing());
    }

    private IsolatedDelivery isolated(List<Sequencer> sequencers, Platform.Waiter waiter) {
        rig.time.waiters = () -> waiter;
        NodeSettings settings = new NodeSettings(
                List.of(rig.topic),
                DispatchOptions.builder().lease(LaneRig.LEASE).build(),
                rig.events::add);
        return new IsolatedDelivery(lanes, sequencers, rig.inFlight, settings, rig.time);
    }

    /** While it waits, what was sent is delivered, and outcomes are written; what was sent by then is remembered. */
    private final class Writing implements Platform.Waiter {

        @Override
        public void await(Duration atMost) {
            sentBeforeWriting.addAll(rig.sent());
            answerAll();
            rig.write();
        }

        @Override
        public void signal() {
            // it does not sleep
        }
    }

    private void answerAll() {
        List<CompletableFuture<DeliveryResult>> answers = List.copyOf(rig.open.values());
        rig.open.clear();
        answers.forEach(answer -> answer.complete(DeliveryResult.delivered()));
    }

    /** While it waits, time passes; after this time it is as {@link Writing}. */
    private final class Slow implements Platform.Waiter {

        private final Writing writing = new Writing();
        private Duration left;

        Slow(Duration silent) {
            left = silent;
        }

        @Override
        public void await(Duration atMost) {
            if (left.compareTo(atMost) < 0) {
                writing.await(atMost);
            } else {
                left = left.minus(atMost);
                rig.time.pass(atMost);
            }
        }

        @Override
        public void signal() {
            // it does not sleep
        }
    }

    private static LaneClaim suspected(LaneClaim claim) {
        return crashed(claim, IsolatedDelivery.SUSPECT);
    }

    private static LaneClaim crashed(LaneClaim claim, int times) {
        Claim plain = claim.claim();
        return new LaneClaim(
                new Claim(plain.seq(), plain.message(), plain.attempt(), times, plain.lease()),
                claim.lane(),
                claim.place());
    }

    @Test
    void messageIsReleasedWhenItCannotBeNoted() {
        LaneClaim suspect = suspected(rig.next(lane, "a"));
        rig.offer(suspect);
        lanes.onAlone = claim -> {
            throw FakeStore.unavailable();
        };

        assertThatThrownBy(isolated::runOnce).isInstanceOf(StoreUnavailableException.class);
        rig.write();

        assertThat(rig.written).containsExactly(new Outcome.Released(suspect.claim()));
        assertThat(rig.inFlight.count()).isZero();
        assertThat(rig.sent()).isEmpty();
    }

    @Test
    void noteThatMayHaveBeenWrittenIsRemovedBeforeAnythingElse() {
        rig.offer(suspected(rig.next(lane, "a")));
        lanes.onAlone = claim -> {
            throw FakeStore.unavailable();
        };
        assertThatThrownBy(isolated::runOnce).isInstanceOf(StoreUnavailableException.class);

        isolated.runOnce();

        assertThat(lanes.aloneEnded).isEqualTo(lanes.alone).hasSize(1);
    }

    /** If that one kills too, the next node would find the first one there again, and send the second. */
    @Test
    void whatIsBehindAMessageThatKillsIsNotSentBeforeThatIsBuried() {
        LaneClaim killer = crashed(rig.next(lane, "a"), IsolatedDelivery.BURIED);
        LaneClaim next = rig.next(lane, "a");
        rig.offer(killer, next);
        rig.settle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> new Settlement.Locked(outcome.claim()))
                .toList();

        isolated.runOnce();
        rig.write();

        assertThat(rig.written).hasSize(1).first().isInstanceOf(Outcome.Buried.class);
        assertThat(rig.sent()).as("another session has locked its row").isEmpty();
        assertThat(rig.inFlight.isClosed()).isFalse();

        rig.settle = settled;
        rig.write();

        assertThat(rig.sent()).containsExactly("2");
    }

    @Test
    void suspectThatWasNotedWhenItsNodeWasLostIsDeliveredWithNothingElseInFlight() {
        LaneClaim suspect = crashed(rig.next(lane, "a"), IsolatedDelivery.EXCLUSIVE);
        LaneClaim other = rig.next(lane, "b");
        rig.offer(suspect);
        lanes.onAlone = claim -> {
            rig.offer(other);
            return true;
        };

        isolated.runOnce();

        assertThat(rig.events).contains(new Event.Suspected(suspect.claim().message(), IsolatedDelivery.EXCLUSIVE));
        assertThat(rig.written).containsExactly(new Outcome.Delivered(suspect.claim()));
        assertThat(sentBeforeWriting).containsExactly("1");
        assertThat(rig.sent()).containsExactly("1", "2");
    }

    @Test
    void suspectIsNotedAndDelaysNoOtherMessage() {
        LaneClaim suspect = suspected(rig.next(lane, "a"));
        LaneClaim next = suspected(rig.next(lane, "b"));
        LaneClaim other = rig.next(lane, "c");
        rig.offer(suspect, next, other);
        assertThat(rig.sent()).containsExactly("3");

        isolated.runOnce();

        assertThat(rig.events)
                .filteredOn(Event.Suspected.class::isInstance)
                .containsExactly(
                        new Event.Suspected(suspect.claim().message(), IsolatedDelivery.SUSPECT),
                        new Event.Suspected(next.claim().message(), IsolatedDelivery.SUSPECT));
        assertThat(sentBeforeWriting)
                .as("one suspect at a time, beside the other message")
                .containsExactly("3", "1", "3", "1", "2");
        assertThat(lanes.alone).containsExactly(suspect.claim(), next.claim());
        assertThat(lanes.aloneEnded).isEqualTo(lanes.alone);
        assertThat(rig.written)
                .containsExactlyInAnyOrder(
                        new Outcome.Delivered(suspect.claim()),
                        new Outcome.Delivered(next.claim()),
                        new Outcome.Delivered(other.claim()));
    }

    /** Each topic has a suspect of its own in flight: a handler that takes minutes does not hold up the suspects of other topics. */
    @Test
    void suspectOfAnotherTopicDoesNotWait() {
        Sequencer second = new Sequencer(rig.topic, rig.inFlight, rig.writer::add, rig.pipeline, rig.leaseLimit);
        second.add(lane, LeaseValidity.Stamp.now(rig.time));
        IsolatedDelivery both = isolated(List.of(rig.sequencer, second));
        rig.offer(suspected(rig.next(lane, "a")));
        second.offer(List.of(suspected(rig.next(lane, "b"))), LeaseValidity.Stamp.now(rig.time));

        both.runOnce();

        assertThat(sentBeforeWriting).containsExactly("1", "2");
    }

    /** A lane row that another session has locked for long. */
    @Test
    void suspectOfAnotherTopicDoesNotWaitForALaneThatCannotBeNoted() {
        Sequencer second = new Sequencer(rig.topic, rig.inFlight, rig.writer::add, rig.pipeline, rig.leaseLimit);
        second.add(lane, LeaseValidity.Stamp.now(rig.time));
        IsolatedDelivery both = isolated(List.of(rig.sequencer, second));
        LaneClaim stuck = suspected(rig.next(lane, "a"));
        rig.offer(stuck);
        second.offer(List.of(suspected(rig.next(lane, "b"))), LeaseValidity.Stamp.now(rig.time));
        lanes.onAlone = claim -> {
            if (claim.equals(stuck.claim())) {
                throw FakeStore.unavailable();
            }
            return true;
        };

        assertThatThrownBy(both::runOnce).isInstanceOf(StoreUnavailableException.class);

        assertThat(rig.sent()).containsExactly("2");
    }

    /** A backlog takes every slot that is freed, so one is kept. */
    @Test
    void backlogLeavesTheSuspectASlot() {
        LaneClaim suspect = suspected(rig.next(lane, "a"));
        rig.offer(suspect);
        for (int i = 0; i < SLOTS; i++) {
            rig.offer(rig.next(lane, "key " + i));
        }
        assertThat(rig.sent()).hasSize(SLOTS - 1);

        isolated.runOnce();

        assertThat(rig.written).contains(new Outcome.Delivered(suspect.claim()));
        assertThat(sentBeforeWriting.subList(0, SLOTS)).contains("1");
    }

    private Sequencer another() {
        Sequencer second = new Sequencer(rig.topic, rig.inFlight, rig.writer::add, rig.pipeline, rig.leaseLimit);
        second.add(lane, LeaseValidity.Stamp.now(rig.time));
        return second;
    }

    /** Otherwise the loss of the node during the isolated delivery would count as a loss during theirs. */
    @Test
    void notesOfSuspectsThatHaveEndedAreRemovedBeforeAMessageIsDeliveredAlone() {
        Sequencer second = another();
        LaneClaim ended = suspected(rig.next(lane, "a"));
        LaneClaim suspect = crashed(rig.next(lane, "b"), IsolatedDelivery.EXCLUSIVE);
        rig.offer(ended);
        second.offer(List.of(suspect), LeaseValidity.Stamp.now(rig.time));
        List<Claim> removed = new ArrayList<>();
        lanes.onAlone = claim -> {
            if (claim.equals(suspect.claim())) {
                removed.addAll(lanes.aloneEnded);
            }
            return true;
        };

        isolated(List.of(rig.sequencer, second)).runOnce();

        assertThat(lanes.alone).containsExactly(ended.claim(), suspect.claim());
        assertThat(removed).contains(ended.claim());
    }

    @Test
    void messageIsNotDeliveredAloneWhileANoteOfAnotherCannotBeRemoved() {
        Sequencer second = another();
        LaneClaim ended = suspected(rig.next(lane, "a"));
        rig.offer(ended);
        LaneClaim suspect = crashed(rig.next(lane, "b"), IsolatedDelivery.EXCLUSIVE);
        second.offer(List.of(suspect), LeaseValidity.Stamp.now(rig.time));
        lanes.lockedNotes = claim -> claim.equals(ended.claim());

        isolated(List.of(rig.sequencer, second)).runOnce();

        assertThat(rig.sent()).containsExactly("1");
        assertThat(lanes.alone).containsExactly(ended.claim());
        assertThat(second.hasSuspects()).isTrue();
        assertThat(rig.inFlight.isClosed()).isFalse();
    }

    /** A handler that was given up may keep the row locked for minutes: the delivery ends without an attempt each time. */
    @Test
    void nodeStandsStillForTheSuspectsOfATopicForATenthOfTheTimeAtMost() {
        LaneClaim suspect = crashed(rig.next(lane, "a"), IsolatedDelivery.EXCLUSIVE);
        lanes.onAlone = claim -> {
            rig.time.pass(Duration.ofSeconds(1));
            return false;
        };
        rig.offer(suspect);
        for (int i = 0; i < 2; i++) {
            isolated.runOnce();
            rig.time.pass(Duration.ofSeconds(1));
        }
        assertThat(lanes.alone).as("the second delivery waits").hasSize(1);
        for (int i = 0; i < SLOTS; i++) {
            rig.offer(rig.next(lane, "key " + i));
        }
        assertThat(rig.sent()).as("it keeps no slot free meanwhile").hasSize(SLOTS);
        answerAll();

        rig.time.pass(Duration.ofSeconds(10));
        isolated.runOnce();

        assertThat(lanes.alone).hasSize(2);
    }

    private static final Duration SHORTEST_WAIT = LaneRig.LEASE.dividedBy(6);

    private LaneClaim offerToBeAlone() {
        LaneClaim suspect = crashed(rig.next(lane, "suspect"), IsolatedDelivery.EXCLUSIVE);
        rig.offer(suspect);
        return suspect;
    }

    private void passWithLane(Duration time) {
        rig.time.pass(time);
        rig.sequencer.renewed(lane, LeaseValidity.Stamp.now(rig.time));
    }

    /** A handler of another topic may take minutes. */
    @Test
    void slotsOpenAgainWhenADeliveryInFlightDoesNotEndInTime() {
        rig.offer(rig.next(lane, "slow"));
        LaneClaim suspect = offerToBeAlone();
        long begun = rig.time.nanos();

        isolated(List.of(rig.sequencer), new Slow(LaneRig.LEASE)).runOnce();

        assertThat(Duration.ofNanos(rig.time.nanos() - begun))
                .isBetween(SHORTEST_WAIT, SHORTEST_WAIT.plus(Duration.ofSeconds(1)));
        assertThat(rig.inFlight.isClosed()).isFalse();
        assertThat(lanes.alone).as("it would get the crash of another message").isEmpty();
        rig.offer(rig.next(lane, "next"));
        assertThat(rig.sent()).containsExactly("1", "3");

        answerAll();
        passWithLane(LaneRig.LEASE.multipliedBy(2));
        isolated.runOnce();

        assertThat(rig.written).contains(new Outcome.Delivered(suspect.claim()));
    }

    @Test
    void slotsDoNotCloseWhileADeliveryHasRunForLongerThanTheNodeWouldWait() {
        rig.offer(rig.next(lane, "slow"));
        offerToBeAlone();
        rig.time.pass(SHORTEST_WAIT.plusMillis(1));
        long begun = rig.time.nanos();

        isolated(List.of(rig.sequencer), new Slow(LaneRig.LEASE)).runOnce();

        assertThat(rig.time.nanos()).isEqualTo(begun);
        answerAll();
        isolated.runOnce();
        assertThat(lanes.alone).hasSize(1);
    }

    /** Otherwise a node whose deliveries always take a little longer would never deliver the message. */
    @Test
    void nodeWaitsLongerForASuspectThatHasWaitedLong() {
        rig.offer(rig.next(lane, "slow"));
        LaneClaim suspect = offerToBeAlone();
        rig.time.pass(SHORTEST_WAIT.plusMillis(1));
        IsolatedDelivery slow = isolated(List.of(rig.sequencer), new Slow(SHORTEST_WAIT.multipliedBy(2)));
        slow.runOnce();
        answerAll();
        passWithLane(LaneRig.LEASE.multipliedBy(5));
        rig.offer(rig.next(lane, "slow"));

        slow.runOnce();

        assertThat(rig.written).contains(new Outcome.Delivered(suspect.claim()));
    }

    /** Its outcome is decided, so its message cannot be the cause of a later loss. */
    @Test
    void slotsOpenWhenTheIsolatedDeliveryHasEndedAndItsOutcomeMeetsALock() {
        LaneClaim suspect = offerToBeAlone();
        LaneClaim next = rig.next(lane, "next");
        rig.offer(next);
        rig.settle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> new Settlement.Locked(outcome.claim()))
                .toList();

        isolated.runOnce();

        assertThat(rig.inFlight.isClosed()).isFalse();
        assertThat(lanes.alone).containsExactly(suspect.claim());
        assertThat(lanes.aloneEnded).contains(suspect.claim());
        assertThat(rig.inFlight.count()).as("neither is written").isEqualTo(2);
    }

    @Test
    void outcomesThatMeetALockDoNotKeepAMessageFromBeingDeliveredAlone() {
        LaneClaim stuck = rig.next(lane, "stuck");
        rig.offer(stuck);
        rig.settle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> outcome.claim().equals(stuck.claim())
                        ? new Settlement.Locked(outcome.claim())
                        : new Settlement.Settled(outcome.claim()))
                .toList();
        rig.deliver(stuck);
        rig.write();
        LaneClaim suspect = offerToBeAlone();

        isolated.runOnce();

        assertThat(rig.written).contains(new Outcome.Delivered(suspect.claim()));
    }

    @Test
    void slotsDoNotCloseForALaneThatAnotherSessionHasLocked() {
        offerToBeAlone();
        List<Boolean> closed = new ArrayList<>();
        lanes.lockedNotes = claim -> closed.add(rig.inFlight.isClosed());

        isolated.runOnce();
        isolated.runOnce();

        assertThat(closed).as("a locked lane gives its topic a pause").containsExactly(false);
        assertThat(lanes.alone).isEmpty();

        lanes.lockedNotes = claim -> false;
        rig.time.pass(Duration.ofSeconds(1));
        isolated.runOnce();

        assertThat(lanes.alone).hasSize(1);
    }

    @Test
    void suspectOfALockedLaneWaitsAndDelaysNoSuspectOfAnotherTopic() {
        Sequencer second = another();
        LaneClaim stuck = suspected(rig.next(lane, "a"));
        rig.offer(stuck);
        second.offer(List.of(suspected(rig.next(lane, "b"))), LeaseValidity.Stamp.now(rig.time));
        IsolatedDelivery both = isolated(List.of(rig.sequencer, second));
        lanes.onAlone = claim -> !claim.equals(stuck.claim());

        both.runOnce();

        assertThat(rig.sent()).containsExactly("2");
        lanes.onAlone = claim -> true;
        rig.time.pass(Duration.ofSeconds(1));
        both.runOnce();
        assertThat(rig.sent()).containsExactly("2", "1");
    }

    /** Otherwise the suspects of many topics would together stop the node for longer than a lease. */
    @Test
    void slotsAreOpenAsLongAsTheyWereClosedBeforeTheSuspectOfAnotherTopic() {
        Sequencer second = another();
        offerToBeAlone();
        second.offer(
                List.of(crashed(rig.next(lane, "b"), IsolatedDelivery.EXCLUSIVE)), LeaseValidity.Stamp.now(rig.time));
        IsolatedDelivery both = isolated(List.of(rig.sequencer, second));
        lanes.onAlone = claim -> {
            rig.time.pass(Duration.ofSeconds(1));
            return true;
        };

        both.runOnce();
        assertThat(lanes.alone).hasSize(1);

        rig.time.pass(Duration.ofSeconds(2));
        both.runOnce();
        assertThat(lanes.alone).hasSize(2);
    }
}
