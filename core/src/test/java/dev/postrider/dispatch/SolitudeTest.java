package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.store.Claim;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class SolitudeTest {

    private final LaneRig rig = new LaneRig();
    private final FakeLanes lanes = new FakeLanes();
    private final Lane lane = rig.take();
    private final List<String> sentBeforeWriting = new ArrayList<>();
    private final Solitude solitude = new Solitude(
            lanes,
            List.of(rig.sequencer),
            rig.inFlight,
            rig.pipeline,
            rig.sequencer::decide,
            rig.events::add,
            new Writing());

    /** While it waits, what was sent is delivered, and outcomes are written; what was sent by then is remembered. */
    private final class Writing implements Waiter {

        @Override
        public void await(Duration atMost) {
            sentBeforeWriting.addAll(rig.sent());
            List<CompletableFuture<DeliveryResult>> answers = List.copyOf(rig.open.values());
            rig.open.clear();
            answers.forEach(answer -> answer.complete(DeliveryResult.delivered()));
            rig.write();
        }

        @Override
        public void signal() {
            // it does not sleep
        }
    }

    private static LaneClaim suspected(LaneClaim claim) {
        return crashed(claim, Solitude.SUSPECTED);
    }

    private static LaneClaim crashed(LaneClaim claim, int times) {
        Claim plain = claim.claim();
        return new LaneClaim(
                new Claim(plain.seq(), plain.message(), plain.attempt(), times, plain.lease()),
                claim.lane(),
                claim.place());
    }

    @Test
    void messageIsPutBackWhenItsSolitudeCannotBeNoted() {
        LaneClaim suspect = suspected(rig.next(lane, "a"));
        rig.offer(suspect);
        lanes.onAlone = claim -> {
            throw FakeStore.unavailable();
        };

        assertThatThrownBy(solitude::runOnce).isInstanceOf(StoreUnavailableException.class);
        rig.write();

        assertThat(rig.written).containsExactly(new Outcome.Released(suspect.claim()));
        assertThat(rig.inFlight.count()).isZero();
        assertThat(rig.sent()).isEmpty();
    }

    @Test
    void whatTheLaneMayStillSayIsTakenBackBeforeAnythingElse() {
        rig.offer(suspected(rig.next(lane, "a")));
        lanes.onAlone = claim -> {
            throw FakeStore.unavailable();
        };
        assertThatThrownBy(solitude::runOnce).isInstanceOf(StoreUnavailableException.class);

        solitude.runOnce();

        assertThat(lanes.aloneEnded).isEqualTo(lanes.alone).hasSize(1);
    }

    /** If that one kills too, the next node would find the first one there again, and send the second. */
    @Test
    void whatIsBehindAMessageThatKillsIsNotSentBeforeThatIsBuried() {
        LaneClaim killer = crashed(rig.next(lane, "a"), 3);
        LaneClaim next = rig.next(lane, "a");
        rig.offer(killer, next);

        solitude.runOnce();

        assertThat(rig.written.get(0)).isInstanceOf(Outcome.Buried.class);
        assertThat(sentBeforeWriting).isEmpty();
        assertThat(rig.sent()).containsExactly("2");
    }

    @Test
    void suspectIsToldOfAndDeliveredWithNothingElseUnderWay() {
        LaneClaim suspect = suspected(rig.next(lane, "a"));
        LaneClaim other = rig.next(lane, "b");
        rig.offer(suspect);
        lanes.onAlone = claim -> {
            rig.offer(other);
            return true;
        };

        solitude.runOnce();

        assertThat(rig.events).contains(new Event.Suspected(suspect.claim().message(), Solitude.SUSPECTED));
        assertThat(rig.written).containsExactly(new Outcome.Delivered(suspect.claim()));
        assertThat(sentBeforeWriting).containsExactly("1");
        assertThat(rig.sent()).containsExactly("1", "2");
    }
}
