package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LeaseKeeperTest {

    private final Rig rig = new Rig("orders");
    private final LeaseKeeper keeper = new LeaseKeeper(rig.store, rig.inFlight, Rig.LEASE, rig.time);

    @Test
    void leaseIsExtendedWhenAThirdOfItIsGone() {
        Held held = rig.hold();

        rig.time.pass(Duration.ofMillis(9_999));
        keeper.runOnce();
        assertThat(rig.store.extensions).isEmpty();

        rig.time.pass(Duration.ofMillis(1));
        keeper.runOnce();
        assertThat(rig.store.extensions).containsExactly(List.of(held.claim()));
        assertThat(held.tenure().sinceRenewal(rig.time)).isZero();

        keeper.runOnce();
        assertThat(rig.store.extensions).as("fresh again").hasSize(1);
    }

    @Test
    void leaseOfWhatIsBeingHandledIsLeftAloneSinceItsRowIsLocked() {
        Held handled = rig.hold();
        Held other = rig.hold();
        assertThat(handled.tryKeepRow()).isTrue();
        rig.time.pass(Duration.ofSeconds(11));

        keeper.runOnce();
        assertThat(rig.store.extensions).containsExactly(List.of(other.claim()));

        handled.leaveRow();
        keeper.runOnce();
        assertThat(rig.store.extensions).hasSize(2).contains(List.of(handled.claim()));
    }

    @Test
    void onlyAgeingLeasesAreExtended() {
        Held old = rig.hold();
        rig.time.pass(Duration.ofSeconds(8));
        rig.hold();
        rig.time.pass(Duration.ofSeconds(3));

        keeper.runOnce();

        assertThat(rig.store.extensions).containsExactly(List.of(old.claim()));
    }

    @Test
    void leaseIsExtendedWhileItsOutcomeWaitsToBeWritten() {
        Held held = rig.hold();
        held.decide();
        rig.time.pass(Duration.ofSeconds(11));

        keeper.runOnce();

        assertThat(rig.store.extensions).hasSize(1);
    }

    @Test
    void lostLeaseIsNotExtendedAgain() {
        Held held = rig.hold();
        rig.store.onExtend = (claims, lease) -> List.of(new Settlement.LeaseLost(claims.get(0), false));
        rig.time.pass(Duration.ofSeconds(11));

        keeper.runOnce();
        keeper.runOnce();

        assertThat(rig.store.extensions).hasSize(1);
        assertThat(held.tenure().isLost()).isTrue();
    }

    @Test
    void leaseCountsFromBeforeTheExtendingStatement() {
        Held held = rig.hold();
        rig.time.pass(Duration.ofSeconds(11));
        rig.store.onExtend = (claims, lease) -> {
            rig.time.pass(Duration.ofSeconds(3));
            return FakeStore.settled(claims);
        };

        keeper.runOnce();

        assertThat(held.tenure().sinceRenewal(rig.time)).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void failedExtensionIsTriedAgain() {
        Held held = rig.hold();
        rig.time.pass(Duration.ofSeconds(11));
        rig.store.onExtend = (claims, lease) -> {
            throw FakeStore.unavailable();
        };
        assertThatThrownBy(keeper::runOnce).isInstanceOf(StoreUnavailableException.class);

        rig.store.onExtend = (claims, lease) -> FakeStore.settled(claims);
        keeper.runOnce();

        assertThat(rig.store.extensions).hasSize(2);
        assertThat(held.tenure().sinceRenewal(rig.time)).isZero();
    }

    @Test
    void roundComesAtLeastTwelveTimesInALeaseAndOnceASecond() {
        assertThat(new LeaseKeeper(rig.store, rig.inFlight, Duration.ofSeconds(6), rig.time).runOnce())
                .isEqualTo(Duration.ofMillis(500));
        assertThat(new LeaseKeeper(rig.store, rig.inFlight, Duration.ofHours(24), rig.time).runOnce())
                .isEqualTo(Duration.ofSeconds(1));
    }
}
