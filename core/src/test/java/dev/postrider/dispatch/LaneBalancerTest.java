package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class LaneBalancerTest {

    private static final int LANES = 8;

    private final LaneRig rig = new LaneRig(100, LANES);
    private final FakeLanes lanes = new FakeLanes();
    private final List<TopicName> taken = new ArrayList<>();
    private final LaneBalancer leaseExtender = new LaneBalancer(
            lanes,
            new NodeSettings(
                    List.of(rig.topic),
                    DispatchOptions.builder().lease(LaneRig.LEASE).build(),
                    rig.events::add),
            new Sequencers(rig.sequencer),
            rig.time,
            taken::add);

    @Test
    void onlyNodeAcquiresAllLanesAndScansThem() {
        leaseExtender.runOnce();

        assertThat(rig.sequencer.lanes()).hasSize(LANES);
        assertThat(taken).containsExactly(rig.topic.name());
    }

    @Test
    void announcementThatFailsDoesNotKeepLanesFromBeingRenewed() {
        leaseExtender.runOnce();
        lanes.onAnnounce = () -> {
            throw FakeStore.unavailable();
        };

        assertThatThrownBy(leaseExtender::runOnce).isInstanceOf(StoreUnavailableException.class);

        assertThat(lanes.renewals).containsExactly(Set.copyOf(rig.sequencer.lanes()));
    }

    @Test
    void laneThatIsLockedIsNotLostAndIsRenewedSoon() {
        Duration usual = leaseExtender.runOnce();
        Lane first = rig.sequencer.lanes().get(0);
        lanes.locked = Set.of(first);
        Duration soon = leaseExtender.runOnce();
        assertThat(soon).isLessThanOrEqualTo(usual.dividedBy(5));
        assertThat(rig.sequencer.lanes()).contains(first).hasSize(LANES);
        lanes.locked = Set.of();
        lanes.onAnnounce = () -> {
            throw new AssertionError("not before its time");
        };

        rig.time.pass(soon);
        leaseExtender.runOnce();

        assertThat(lanes.renewals.get(lanes.renewals.size() - 1)).containsExactly(first);
        assertThat(rig.sequencer.lanes()).contains(first).hasSize(LANES);
    }

    @Test
    void nodeTakesItsShareRoundedUp() {
        lanes.nodes = 3;

        leaseExtender.runOnce();

        assertThat(lanes.requests)
                .singleElement()
                .satisfies(request -> assertThat(request.most()).isEqualTo(3))
                .satisfies(request -> assertThat(request.supply()).isEqualTo(Lane.Supply.FREE));
    }

    @Test
    void surplusIsGivenUpWhenAnotherNodeJoinsButOnlyWhatIsDry() {
        leaseExtender.runOnce();
        List<Lane> upper = rig.sequencer.lanes().subList(3, LANES);
        List<LaneClaim> inFlight =
                upper.stream().map(lane -> rig.next(lane, "a")).toList();
        rig.offer(inFlight);
        Lane last = upper.get(4);
        lanes.nodes = 2;

        leaseExtender.runOnce();

        assertThat(lanes.released).hasSize(3).doesNotContainAnyElementsOf(upper);
        assertThat(rig.sequencer.freeCapacity()).doesNotContainKey(last).hasSize(4);
        rig.deliver(inFlight.get(4));
        leaseExtender.runOnce();
        assertThat(lanes.released).as("its outcome is not written").hasSize(3);
        rig.write();
        leaseExtender.runOnce();
        assertThat(lanes.released).hasSize(4).contains(last);
        assertThat(rig.sequencer.lanes()).hasSize(LANES / 2);
    }

    @Test
    void joiningNodeGetsTheLanesWithoutASlowDelivery() {
        leaseExtender.runOnce();
        List<Lane> slow = rig.sequencer.lanes().subList(LANES / 2, LANES);
        slow.forEach(lane -> rig.offer(rig.next(lane, "a")));
        lanes.nodes = 2;

        leaseExtender.runOnce();

        assertThat(lanes.released).hasSize(LANES / 2);
        assertThat(rig.sequencer.freeCapacity()).as("their other keys go on").containsOnlyKeys(slow);
    }

    @Test
    void laneThatIsKeptAfterAllIsScannedAndIsNothingBeyondTheShare() {
        leaseExtender.runOnce();
        List<LaneClaim> slow =
                rig.sequencer.lanes().stream().map(lane -> rig.next(lane, "a")).toList();
        rig.offer(slow);
        lanes.nodes = 2;
        leaseExtender.runOnce();
        taken.clear();
        rig.time.pass(LaneRig.LEASE.dividedBy(6));

        leaseExtender.runOnce();

        assertThat(taken).containsExactly(rig.topic.name());
        assertThat(rig.sequencer.freeCapacity()).as("the others are tried").hasSize(LANES / 2);
        rig.time.pass(LaneRig.LEASE.dividedBy(6));
        leaseExtender.runOnce();
        assertThat(rig.sequencer.freeCapacity()).hasSize(LANES);
        rig.time.pass(LaneRig.LEASE);
        leaseExtender.runOnce();
        assertThat(rig.sequencer.stayingLanes()).as("none of them has ended").isEqualTo(LANES);
        slow.forEach(rig::deliver);
        rig.write();
        leaseExtender.runOnce();
        assertThat(rig.sequencer.lanes()).as("its share").hasSize(LANES / 2);
    }

    @Test
    void lanesOfANodeThatLeftAreTakenAndTheOnesOnTheirWayOutAreKept() {
        leaseExtender.runOnce();
        List<Lane> all = rig.sequencer.lanes();
        all.forEach(lane -> rig.offer(rig.next(lane, "a")));
        Lane last = all.get(LANES - 1);
        lanes.nodes = 2;
        leaseExtender.runOnce();
        assertThat(rig.sequencer.freeCapacity()).doesNotContainKey(last);

        lanes.nodes = 1;
        leaseExtender.runOnce();

        assertThat(rig.sequencer.lanes()).hasSize(LANES).contains(last);
        assertThat(rig.sequencer.freeCapacity()).containsKey(last);
    }

    @Test
    void laneWithoutAnOwnerForALeaseIsAcquiredBeyondTheShare() {
        lanes.nodes = 2;
        leaseExtender.runOnce();
        rig.time.pass(LaneRig.LEASE.minus(Duration.ofMillis(1)));
        leaseExtender.runOnce();
        assertThat(lanes.requests).hasSize(1);

        rig.time.pass(Duration.ofMillis(1));
        leaseExtender.runOnce();

        assertThat(lanes.requests).hasSize(2);
        assertThat(lanes.requests.get(1).supply()).isEqualTo(Lane.Supply.UNCLAIMED);
        assertThat(lanes.requests.get(1).most()).isEqualTo(LANES / 2);
        assertThat(rig.sequencer.lanes()).hasSize(LANES);
    }

    @Test
    void whatWasTakenBeyondTheShareIsKeptUntilANodeJoins() {
        lanes.nodes = 2;
        leaseExtender.runOnce();
        rig.time.pass(LaneRig.LEASE);
        leaseExtender.runOnce();
        assertThat(rig.sequencer.lanes()).hasSize(LANES);

        rig.time.pass(LaneRig.LEASE);
        leaseExtender.runOnce();
        assertThat(lanes.released).isEmpty();

        lanes.nodes = 4;
        leaseExtender.runOnce();
        assertThat(rig.sequencer.lanes()).hasSize(LANES / 4);
    }

    @Test
    void laneThatIsNotRenewedIsLost() {
        leaseExtender.runOnce();
        Lane lost = rig.sequencer.lanes().get(0);
        lanes.lost = Set.of(lost);
        lanes.nodes = 8;

        leaseExtender.runOnce();

        assertThat(rig.sequencer.lanes()).doesNotContain(lost);
    }

    @Test
    void stoppingNodeReleasesDrainedLanesAtOnceAndAcquiresNothing() {
        leaseExtender.runOnce();
        Lane busy = rig.sequencer.lanes().get(0);
        LaneClaim inFlight = rig.next(busy, "a");
        rig.offer(inFlight);
        rig.sequencer.close();

        leaseExtender.stop();
        leaseExtender.runOnce();

        assertThat(lanes.requests).as("those of its start").hasSize(1);
        assertThat(lanes.released).hasSize(LANES - 1).doesNotContain(busy);
        assertThat(lanes.announced.get(1).topics()).as("others take its share").isEmpty();
        rig.deliver(inFlight);
        rig.write();
        assertThat(rig.sequencer.hasDrained()).isTrue();
        leaseExtender.runOnce();
        assertThat(lanes.released).hasSize(LANES).contains(busy);
        assertThat(lanes.requests).hasSize(1);
    }

    @Test
    void leavingGivesBackWhatIsDryAndTakesNothingAnyMore() {
        leaseExtender.runOnce();
        Lane busy = rig.sequencer.lanes().get(0);
        rig.offer(rig.next(busy, "a"));
        rig.sequencer.close();

        leaseExtender.leave();

        assertThat(lanes.released).hasSize(LANES - 1).doesNotContain(busy);
        assertThat(lanes.left).hasSize(1);
        int requests = lanes.requests.size();
        leaseExtender.runOnce();
        assertThat(lanes.requests).hasSize(requests);
    }
}
