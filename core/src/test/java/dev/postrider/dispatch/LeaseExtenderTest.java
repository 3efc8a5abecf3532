package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LeaseExtenderTest {

    private final Rig rig = new Rig("orders");
    private final LeaseExtender leaseExtender = new LeaseExtender(rig.store, rig.inFlight, Rig.LEASE, rig.time);

    @Test
    void leaseIsExtendedWhenAThirdOfItIsGone() {
        InFlightMessage claimed = rig.hold();

        rig.time.pass(Duration.ofMillis(9_999));
        leaseExtender.runOnce();
        assertThat(rig.store.extensions).isEmpty();

        rig.time.pass(Duration.ofMillis(1));
        leaseExtender.runOnce();
        assertThat(rig.store.extensions).containsExactly(List.of(claimed.claim()));
        assertThat(claimed.validity().sinceRenewal(rig.time)).isZero();

        leaseExtender.runOnce();
        assertThat(rig.store.extensions).as("fresh again").hasSize(1);
    }

    @Test
    void leaseOfAMessageThatIsBeingHandledIsNotExtendedSinceItsRowIsLocked() {
        InFlightMessage handled = rig.hold();
        InFlightMessage other = rig.hold();
        assertThat(handled.tryReserveRow()).isTrue();
        rig.time.pass(Duration.ofSeconds(11));

        leaseExtender.runOnce();
        assertThat(rig.store.extensions).containsExactly(List.of(other.claim()));

        handled.freeRow();
        leaseExtender.runOnce();
        assertThat(rig.store.extensions).hasSize(2).contains(List.of(handled.claim()));
    }

    @Test
    void onlyAgeingLeasesAreExtended() {
        InFlightMessage old = rig.hold();
        rig.time.pass(Duration.ofSeconds(8));
        rig.hold();
        rig.time.pass(Duration.ofSeconds(3));

        leaseExtender.runOnce();

        assertThat(rig.store.extensions).containsExactly(List.of(old.claim()));
    }

    @Test
    void leaseIsExtendedWhileItsOutcomeWaitsToBeWritten() {
        InFlightMessage claimed = rig.hold();
        claimed.decide();
        rig.time.pass(Duration.ofSeconds(11));

        leaseExtender.runOnce();

        assertThat(rig.store.extensions).hasSize(1);
    }

    @Test
    void lostLeaseIsNotExtendedAgain() {
        InFlightMessage claimed = rig.hold();
        rig.store.onExtend = (claims, lease) -> List.of(new Settlement.LeaseLost(claims.get(0), false));
        rig.time.pass(Duration.ofSeconds(11));

        leaseExtender.runOnce();
        leaseExtender.runOnce();

        assertThat(rig.store.extensions).hasSize(1);
        assertThat(claimed.validity().isLost()).isTrue();
    }

    @Test
    void leaseCountsFromBeforeTheExtendingStatement() {
        InFlightMessage claimed = rig.hold();
        rig.time.pass(Duration.ofSeconds(11));
        rig.store.onExtend = (claims, lease) -> {
            rig.time.pass(Duration.ofSeconds(3));
            return FakeStore.settled(claims);
        };

        leaseExtender.runOnce();

        assertThat(claimed.validity().sinceRenewal(rig.time)).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void failedExtensionIsTriedAgain() {
        InFlightMessage claimed = rig.hold();
        rig.time.pass(Duration.ofSeconds(11));
        rig.store.onExtend = (claims, lease) -> {
            throw FakeStore.unavailable();
        };
        assertThatThrownBy(leaseExtender::runOnce).isInstanceOf(StoreUnavailableException.class);

        rig.store.onExtend = (claims, lease) -> FakeStore.settled(claims);
        leaseExtender.runOnce();

        assertThat(rig.store.extensions).hasSize(2);
        assertThat(claimed.validity().sinceRenewal(rig.time)).isZero();
    }

    /** Otherwise another node would claim the message between the end of the lock and the next round. */
    @Test
    void leaseThatIsAboutToEndAndMeetsALockIsTriedAgainWithinMilliseconds() {
        InFlightMessage claimed = rig.hold();
        rig.store.onExtend = (claims, lease) -> List.of(new Settlement.Locked(claims.get(0)));
        rig.time.pass(Duration.ofSeconds(11));
        assertThat(leaseExtender.runOnce()).as("half of it is left").isEqualTo(Duration.ofSeconds(1));

        rig.time.pass(Duration.ofSeconds(10));
        assertThat(leaseExtender.runOnce()).isBetween(Duration.ofMillis(10), Duration.ofMillis(50));
        rig.time.pass(Rig.LEASE);
        assertThat(leaseExtender.runOnce()).as("it has ended").isBetween(Duration.ofMillis(10), Duration.ofMillis(50));

        rig.store.onExtend = (claims, lease) -> FakeStore.settled(claims);
        assertThat(leaseExtender.runOnce()).isEqualTo(Duration.ofSeconds(1));
        assertThat(claimed.validity().sinceRenewal(rig.time)).isZero();
    }

    @Test
    void roundComesAtLeastTwelveTimesInALeaseAndOnceASecond() {
        assertThat(new LeaseExtender(rig.store, rig.inFlight, Duration.ofSeconds(6), rig.time).runOnce())
                .isEqualTo(Duration.ofMillis(500));
        assertThat(new LeaseExtender(rig.store, rig.inFlight, Duration.ofHours(24), rig.time).runOnce())
                .isEqualTo(Duration.ofSeconds(1));
    }
}
