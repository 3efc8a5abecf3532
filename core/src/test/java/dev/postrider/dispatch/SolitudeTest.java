package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.store.Claim;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SolitudeTest {

    private final LaneRig rig = new LaneRig();
    private final FakeLanes lanes = new FakeLanes();
    private final Lane lane = rig.take();
    private final Solitude solitude = new Solitude(
            lanes, List.of(rig.sequencer), rig.inFlight, rig.pipeline, rig.sequencer::decide, rig.time.waiter());

    private static LaneClaim suspected(LaneClaim claim) {
        Claim plain = claim.claim();
        return new LaneClaim(
                new Claim(plain.seq(), plain.message(), plain.attempt(), Solitude.SUSPECTED, plain.lease()),
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
}
