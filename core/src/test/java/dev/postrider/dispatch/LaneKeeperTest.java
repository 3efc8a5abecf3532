package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.message.TopicName;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class LaneKeeperTest {

    private static final int LANES = 8;

    private final LaneRig rig = new LaneRig(100, LANES);
    private final FakeLanes lanes = new FakeLanes();
    private final List<TopicName> taken = new ArrayList<>();
    private final LaneKeeper keeper = new LaneKeeper(
            lanes,
            DispatchOptions.builder().lease(LaneRig.LEASE).build(),
            Set.of(rig.topic.name()),
            Map.of(rig.topic.name(), rig.sequencer),
            rig.time,
            rig.events::add,
            taken::add);

    @Test
    void nodeThatIsAloneTakesAllLanesAndLooksIntoThem() {
        keeper.runOnce();

        assertThat(rig.sequencer.lanes()).hasSize(LANES);
        assertThat(taken).containsExactly(rig.topic.name());
    }

    @Test
    void announcementThatFailsDoesNotKeepLanesFromBeingRenewed() {
        keeper.runOnce();
        lanes.onAnnounce = () -> {
            throw FakeStore.unavailable();
        };

        assertThatThrownBy(keeper::runOnce).isInstanceOf(StoreUnavailableException.class);

        assertThat(lanes.renewals).containsExactly(Set.copyOf(rig.sequencer.lanes()));
    }

    @Test
    void laneThatIsLockedIsNotLostAndIsRenewedSoon() {
        Duration usual = keeper.runOnce();
        Lane first = rig.sequencer.lanes().get(0);
        lanes.locked = Set.of(first);
        Duration soon = keeper.runOnce();
        assertThat(soon).isLessThanOrEqualTo(usual.dividedBy(5));
        assertThat(rig.sequencer.lanes()).contains(first).hasSize(LANES);
        lanes.locked = Set.of();
        lanes.onAnnounce = () -> {
            throw new AssertionError("not before its time");
        };

        rig.time.pass(soon);
        keeper.runOnce();

        assertThat(lanes.renewals.get(lanes.renewals.size() - 1)).containsExactly(first);
        assertThat(rig.sequencer.lanes()).contains(first).hasSize(LANES);
    }

    @Test
    void nodeTakesItsShareRoundedUp() {
        lanes.nodes = 3;

        keeper.runOnce();

        assertThat(lanes.requests)
                .singleElement()
                .satisfies(request -> assertThat(request.most()).isEqualTo(3))
                .satisfies(request -> assertThat(request.supply()).isEqualTo(Lane.Supply.FREE));
    }

    @Test
    void surplusIsGivenUpWhenAnotherNodeJoinsButOnlyWhatIsDry() {
        keeper.runOnce();
        Lane last = rig.sequencer.lanes().get(LANES - 1);
        LaneClaim inHand = rig.next(last, "a");
        rig.offer(inHand);
        lanes.nodes = 2;

        keeper.runOnce();

        assertThat(lanes.released).hasSize(3).doesNotContain(last);
        assertThat(rig.sequencer.room()).doesNotContainKey(last);
        rig.deliver(inHand);
        keeper.runOnce();
        assertThat(lanes.released).as("its outcome is not written").hasSize(3);
        rig.write();
        keeper.runOnce();
        assertThat(lanes.released).hasSize(4).contains(last);
        assertThat(rig.sequencer.lanes()).hasSize(LANES / 2);
    }

    @Test
    void lanesOfANodeThatLeftAreTakenAndTheOnesOnTheirWayOutAreKept() {
        keeper.runOnce();
        Lane last = rig.sequencer.lanes().get(LANES - 1);
        rig.offer(rig.next(last, "a"));
        lanes.nodes = 2;
        keeper.runOnce();

        lanes.nodes = 1;
        keeper.runOnce();

        assertThat(rig.sequencer.lanes()).hasSize(LANES).contains(last);
        assertThat(rig.sequencer.room()).containsKey(last);
    }

    @Test
    void whatNobodyTookForALeaseIsTakenBeyondTheShare() {
        lanes.nodes = 2;
        keeper.runOnce();
        rig.time.pass(LaneRig.LEASE.minus(Duration.ofMillis(1)));
        keeper.runOnce();
        assertThat(lanes.requests).hasSize(1);

        rig.time.pass(Duration.ofMillis(1));
        keeper.runOnce();

        assertThat(lanes.requests).hasSize(2);
        assertThat(lanes.requests.get(1).supply()).isEqualTo(Lane.Supply.LEFT_OVER);
        assertThat(lanes.requests.get(1).most()).isEqualTo(LANES / 2);
        assertThat(rig.sequencer.lanes()).hasSize(LANES);
    }

    @Test
    void whatWasTakenBeyondTheShareIsKeptUntilANodeJoins() {
        lanes.nodes = 2;
        keeper.runOnce();
        rig.time.pass(LaneRig.LEASE);
        keeper.runOnce();
        assertThat(rig.sequencer.lanes()).hasSize(LANES);

        rig.time.pass(LaneRig.LEASE);
        keeper.runOnce();
        assertThat(lanes.released).isEmpty();

        lanes.nodes = 4;
        keeper.runOnce();
        assertThat(rig.sequencer.lanes()).hasSize(LANES / 4);
    }

    @Test
    void laneThatIsNotRenewedIsLost() {
        keeper.runOnce();
        Lane lost = rig.sequencer.lanes().get(0);
        lanes.lost = Set.of(lost);
        lanes.nodes = 8;

        keeper.runOnce();

        assertThat(rig.sequencer.lanes()).doesNotContain(lost);
    }

    @Test
    void leavingGivesBackWhatIsDryAndTakesNothingAnyMore() {
        keeper.runOnce();
        Lane busy = rig.sequencer.lanes().get(0);
        rig.offer(rig.next(busy, "a"));
        rig.sequencer.close();

        keeper.leave();

        assertThat(lanes.released).hasSize(LANES - 1).doesNotContain(busy);
        assertThat(lanes.left).hasSize(1);
        int requests = lanes.requests.size();
        keeper.runOnce();
        assertThat(lanes.requests).hasSize(requests);
    }
}
