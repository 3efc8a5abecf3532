package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.message.MessageId;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class OutcomeWriterTest {

    private final Rig rig = new Rig("orders");

    @Test
    void outcomeWaitsALittleForCompany() {
        List<InFlightMessage> claimed = rig.hold(3);
        deliver(claimed.get(0));

        assertThat(rig.writer.runOnce()).isEqualTo(Duration.ofMillis(10));
        rig.time.pass(Duration.ofMillis(4));
        deliver(claimed.get(1));
        assertThat(rig.writer.runOnce()).isEqualTo(Duration.ofMillis(6));
        assertThat(rig.store.settles).isEmpty();

        rig.time.pass(Duration.ofMillis(6));
        rig.writer.runOnce();
        assertThat(rig.store.settles).extracting(List::size).containsExactly(2);
    }

    @Test
    void outcomesAreWrittenAtOnceWhenNothingElseIsInFlight() {
        rig.hold(3).forEach(this::deliver);

        rig.writer.runOnce();

        assertThat(rig.store.settles).extracting(List::size).containsExactly(3);
        assertThat(rig.inFlight.count()).isZero();
    }

    @Test
    void outcomesAreWrittenAtOnceWhileSlotsAreClosed() {
        List<InFlightMessage> claimed = rig.hold(3);
        rig.inFlight.closeSlots();

        deliver(claimed.get(0));
        rig.writer.runOnce();

        assertThat(rig.store.settles).extracting(List::size).containsExactly(1);
    }

    @Test
    void batchHoldsAtMostFiveHundred() {
        rig.hold(1200).forEach(this::deliver);

        assertThat(rig.writer.runOnce()).as("more to do").isZero();
        rig.writer.runOnce();
        rig.writer.runOnce();

        assertThat(rig.store.settles).extracting(List::size).containsExactly(500, 500, 200);
        assertThat(rig.events(Event.Settled.class))
                .extracting(Event.Settled::delivered)
                .containsExactly(500, 500, 200);
    }

    @Test
    void writerIsWokenForTheFirstTheFiveHundredthAndTheLastInFlight() {
        AtomicInteger wakes = new AtomicInteger();
        rig.writer.onWork(wakes::incrementAndGet);
        List<InFlightMessage> claimed = rig.hold(600);

        deliver(claimed.get(0));
        assertThat(wakes).hasValue(1);
        claimed.subList(1, 499).forEach(this::deliver);
        assertThat(wakes).hasValue(1);
        deliver(claimed.get(499));
        assertThat(wakes).hasValue(2);
    }

    /** {@code deliverDue} ends when no message is in flight and none was counted since its last claims. */
    @Test
    void messageIsCountedBeforeItIsNoLongerInFlight() {
        deliver(rig.hold());
        List<Long> known = new ArrayList<>();
        rig.time.onNanos =
                () -> known.add(rig.inFlight.count() + rig.writer.counters().total());

        rig.writer.runOnce();

        assertThat(known)
                .as("in flight or counted, at every moment")
                .isNotEmpty()
                .allMatch(count -> count > 0);
        assertThat(rig.inFlight.count()).isZero();
    }

    @Test
    void sameBatchIsSentAgainUntilTheDatabaseAnswers() {
        rig.hold(2).forEach(this::deliver);
        rig.store.onSettle = outcomes -> {
            throw FakeStore.unavailable();
        };
        assertThatThrownBy(rig.writer::runOnce).isInstanceOf(StoreUnavailableException.class);
        deliver(rig.hold());
        assertThatThrownBy(rig.writer::runOnce).isInstanceOf(StoreUnavailableException.class);
        assertThat(rig.inFlight.count()).as("still held").isEqualTo(3);

        rig.store.onSettle = FakeStore::accept;
        rig.writer.runOnce();
        rig.writer.runOnce();

        assertThat(rig.store.settles.get(1)).isEqualTo(rig.store.settles.get(0));
        assertThat(rig.store.settles.get(2)).isEqualTo(rig.store.settles.get(0));
        assertThat(deliveredIds()).hasSize(3).doesNotHaveDuplicates();
        assertThat(rig.inFlight.count()).isZero();
    }

    @Test
    void outcomeThatMeetsALockedRowIsWrittenAgainSoonAndHoldsBackNoOther() {
        List<InFlightMessage> claimed = rig.hold(2);
        claimed.forEach(this::deliver);
        Claim locked = claimed.get(0).claim();
        rig.store.onSettle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> outcome.claim().equals(locked)
                        ? new Settlement.Locked(locked)
                        : new Settlement.Settled(outcome.claim()))
                .toList();

        Duration pause = rig.writer.runOnce();

        assertThat(rig.inFlight.count()).as("the other one is done").isEqualTo(1);
        assertThat(pause).isBetween(Duration.ofMillis(1), Duration.ofSeconds(1));
        rig.writer.runOnce();
        assertThat(rig.store.settles).as("not before its time").hasSize(1);
        rig.store.onSettle = FakeStore::accept;
        rig.time.pass(pause);
        rig.writer.runOnce();
        assertThat(rig.store.settles.get(1)).extracting(Outcome::claim).containsExactly(locked);
        assertThat(rig.inFlight.count()).isZero();
        assertThat(deliveredIds()).hasSize(2);
    }

    /** A renewal locks a lane for milliseconds, a handler locks a row for minutes. */
    @Test
    void outcomeThatMeetsALockIsTriedAgainAfterDelaysThatDoubleUpToATenthOfASecond() {
        deliver(rig.hold());
        rig.store.onSettle =
                outcomes -> List.of(new Settlement.Locked(outcomes.get(0).claim()));
        List<Long> delays = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Duration pause = rig.writer.runOnce();
            delays.add(pause.toMillis());
            rig.time.pass(pause);
        }

        assertThat(delays).containsExactly(10L, 20L, 40L, 80L, 100L, 100L);
    }

    @Test
    void outcomeThatMeetsALockForTheFirstTimeDoesNotWaitForOneThatOftenDid() {
        deliver(rig.hold());
        rig.store.onSettle = outcomes -> outcomes.stream()
                .<Settlement>map(outcome -> new Settlement.Locked(outcome.claim()))
                .toList();
        for (int i = 0; i < 6; i++) {
            rig.time.pass(rig.writer.runOnce());
        }
        rig.writer.runOnce();
        deliver(rig.hold());

        assertThat(rig.writer.runOnce()).isEqualTo(Duration.ofMillis(10));
    }

    @Test
    void batchThatLostAgainstOthersIsSentAgainAsItIs() {
        rig.hold(3).forEach(this::deliver);
        rig.store.onSettle = outcomes -> {
            throw new TransactionConflictException(new SQLException("deadlock"));
        };
        assertThatThrownBy(rig.writer::runOnce).isInstanceOf(TransactionConflictException.class);

        rig.store.onSettle = FakeStore::accept;
        rig.writer.runOnce();

        assertThat(rig.store.settles).extracting(List::size).containsExactly(3, 3);
    }

    @Test
    void outcomeThatTheDatabaseRefusesHoldsBackNoOther() {
        poisonedBy(FakeStore::refused);
    }

    @Test
    void outcomeThatMakesTheStoreThrowAnythingHoldsBackNoOther() {
        poisonedBy(() -> new NullPointerException("bug"));
    }

    @Test
    void outcomeThatExhaustsTheStackHoldsBackNoOther() {
        List<InFlightMessage> claimed = rig.hold(2);
        claimed.forEach(this::deliver);
        MessageId poison = claimed.get(0).claim().message().id();
        rig.store.onSettle = outcomes -> {
            if (outcomes.stream().anyMatch(outcome -> id(outcome).equals(poison))) {
                throw new StackOverflowError();
            }
            return FakeStore.accept(outcomes);
        };

        rig.writer.runOnce();

        assertThat(deliveredIds())
                .containsExactly(claimed.get(1).claim().message().id());
        assertThat(rig.inFlight.count()).isZero();
    }

    private void poisonedBy(Supplier<RuntimeException> refusal) {
        List<InFlightMessage> claimed = rig.hold(5);
        MessageId poison = claimed.get(2).claim().message().id();
        claimed.forEach(this::deliver);
        rig.store.onSettle = outcomes -> {
            if (outcomes.stream().anyMatch(outcome -> id(outcome).equals(poison))) {
                throw refusal.get();
            }
            return FakeStore.accept(outcomes);
        };

        rig.writer.runOnce();

        assertThat(deliveredIds()).hasSize(4).doesNotHaveDuplicates().doesNotContain(poison);
        assertThat(rig.events(Event.LeaseLost.class))
                .extracting(event -> event.message().id())
                .containsExactly(poison);
        assertThat(rig.inFlight.count()).isZero();
        assertThat(rig.writer.counters().total()).isEqualTo(5);
        assertThat(rig.writer.runOnce()).as("nothing is left over").isGreaterThan(Duration.ofSeconds(1));
    }

    @Test
    void errorTextThatCannotBeStoredIsReplaced() {
        InFlightMessage claimed = rig.hold();
        rig.writer.add(claimed, new Outcome.Buried(claimed.claim(), DeadReason.REJECTED, "poison"));
        rig.store.onSettle = outcomes -> {
            if (outcomes.get(0) instanceof Outcome.Buried buried
                    && buried.error().equals("poison")) {
                throw FakeStore.refused();
            }
            return FakeStore.accept(outcomes);
        };

        rig.writer.runOnce();

        assertThat(rig.store.written)
                .containsExactly(
                        new Outcome.Buried(claimed.claim(), DeadReason.REJECTED, "The error text could not be stored"));
    }

    @Test
    void outageWhileARefusedBatchIsTakenApartCountsNothingTwice() {
        List<InFlightMessage> claimed = rig.hold(3);
        claimed.forEach(this::deliver);
        List<Function<List<Outcome>, List<Settlement>>> script = new ArrayList<>(List.of(
                batch -> {
                    throw FakeStore.refused();
                },
                FakeStore::accept,
                second -> {
                    throw FakeStore.unavailable();
                }));
        rig.store.onSettle = outcomes -> (script.isEmpty()
                        ? (Function<List<Outcome>, List<Settlement>>) FakeStore::accept
                        : script.remove(0))
                .apply(outcomes);

        assertThatThrownBy(rig.writer::runOnce).isInstanceOf(StoreUnavailableException.class);
        rig.writer.runOnce();

        assertThat(rig.store.settles).extracting(List::size).containsExactly(3, 1, 1, 2);
        assertThat(deliveredIds()).hasSize(3).doesNotHaveDuplicates();
        assertThat(rig.events(Event.LeaseLost.class)).isEmpty();
        assertThat(rig.writer.counters().total()).isEqualTo(3);
    }

    @Test
    void firstOutcomeOfAClaimCounts() {
        InFlightMessage claimed = rig.hold();
        rig.writer.add(claimed, new Outcome.Released(claimed.claim()));
        deliver(claimed);

        rig.writer.runOnce();

        assertThat(rig.store.written).singleElement().isInstanceOf(Outcome.Released.class);
    }

    @Test
    void eachOutcomeIsReportedOnceByItsName() {
        List<InFlightMessage> claimed = rig.hold(6);
        deliver(claimed.get(0));
        rig.writer.add(claimed.get(1), new Outcome.Retry(claimed.get(1).claim(), Duration.ofSeconds(3), "busy"));
        rig.writer.add(claimed.get(2), new Outcome.Buried(claimed.get(2).claim(), DeadReason.REJECTED, "gone"));
        rig.writer.add(claimed.get(3), new Outcome.Released(claimed.get(3).claim()));
        deliver(claimed.get(4));
        deliver(claimed.get(5));
        rig.store.onSettle = outcomes -> {
            List<Settlement> answers = new ArrayList<>(FakeStore.accept(outcomes));
            answers.set(4, new Settlement.LeaseLost(outcomes.get(4).claim(), false));
            answers.set(5, new Settlement.LeaseLost(outcomes.get(5).claim(), true));
            return answers;
        };

        rig.writer.runOnce();

        assertThat(rig.events)
                .extracting(event -> event.getClass().getSimpleName())
                .containsExactly(
                        "Delivered", "Failed", "Buried", "Released", "LeaseLost", "AlreadyFinished", "Settled");
        assertThat(rig.events(Event.Settled.class)).containsExactly(new Event.Settled(1, 1, 1, 0, 0, 1, 2));
        assertThat(rig.writer.counters().attempts()).isEqualTo(5);
    }

    @Test
    void outcomesOfALaneAreReportedByTheirNames() {
        LaneRig lanes = new LaneRig();
        Lane lane = lanes.take();
        List<LaneClaim> claims = List.of(lanes.next(lane, "a"), lanes.next(lane, "b"), lanes.next(lane, "c"));
        lanes.offer(claims);
        lanes.decide(claims.get(0), new LaneOutcome.Parked(claims.get(0).claim(), DeadReason.REJECTED, "no"));
        lanes.decide(claims.get(1), new LaneOutcome.Blocked(claims.get(1).claim()));
        lanes.decide(
                claims.get(2), new LaneOutcome.RetryOutOfOrder(claims.get(2).claim(), Duration.ofSeconds(3), "busy"));

        lanes.write();

        assertThat(lanes.events)
                .extracting(event -> event.getClass().getSimpleName())
                .containsExactly("Parked", "Blocked", "Failed", "Settled");
        assertThat(lanes.writer.counters().attempts()).isEqualTo(2);
    }

    private void deliver(InFlightMessage claimed) {
        rig.writer.add(claimed, new Outcome.Delivered(claimed.claim()));
    }

    private List<MessageId> deliveredIds() {
        return rig.events(Event.Delivered.class).stream()
                .map(event -> event.message().id())
                .toList();
    }

    private static MessageId id(Outcome outcome) {
        return outcome.claim().message().id();
    }
}
