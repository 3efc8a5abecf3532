package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Message;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.Lease;
import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a node knows of the clock of the database, and which messages it therefore ends. */
final class DatabaseClockTest {

    private static final Instant NOON = Instant.parse("2026-03-04T12:00:00Z");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration ROUND_TRIP = Duration.ofMillis(40);

    private final ManualTime time = new ManualTime();
    private final AtomicInteger readings = new AtomicInteger();
    private Instant database = NOON;
    private boolean unreachable;
    private final DatabaseClock clock = new DatabaseClock(this::read, LEASE, time);
    private final OutcomeDecider decider = new OutcomeDecider(() -> 0.5, clock);

    /** The database reads its clock in the middle of the round trip. */
    private Instant read() {
        readings.incrementAndGet();
        if (unreachable) {
            throw FakeStore.unavailable();
        }
        time.pass(ROUND_TRIP.dividedBy(2));
        database = database.plus(ROUND_TRIP.dividedBy(2));
        Instant answer = database;
        time.pass(ROUND_TRIP.dividedBy(2));
        database = database.plus(ROUND_TRIP.dividedBy(2));
        return answer;
    }

    private void pass(Duration duration) {
        time.pass(duration);
        database = database.plus(duration);
    }

    private InFlightMessage expiring(Instant at) {
        Message message =
                Message.to("orders").type("x").text("payload").expiresAt(at).build();
        Claim claim = new Claim(1, message, 3, 0, new Lease(UUID.randomUUID(), "worker", LEASE));
        Topic topic = Topic.named("orders")
                .deliver(delivery -> {})
                .retry(RetryPolicy.constant(Duration.ofMinutes(1)))
                .build();
        return new InFlightMessage(topic, claim, LeaseValidity.Stamp.now(time));
    }

    @Test
    void messageWithoutExpiryNeedsNoReading() {
        Message message = Message.to("orders").type("x").text("payload").build();
        Claim claim = new Claim(1, message, 1, 0, new Lease(UUID.randomUUID(), "worker", LEASE));
        Topic topic = Topic.named("orders").deliver(delivery -> {}).build();

        assertThat(decider.insteadOfDelivery(new InFlightMessage(topic, claim, LeaseValidity.Stamp.now(time))))
                .isNull();
        assertThat(readings).hasValue(0);
    }

    @Test
    void estimateIsNeverBehindTheDatabaseAndAheadByTheRoundTripAtMost() {
        clock.now();
        for (int i = 0; i < 5; i++) {
            DatabaseClock.Estimate estimate = Objects.requireNonNull(clock.known());
            assertThat(estimate.latest()).isBetween(database, database.plus(ROUND_TRIP));
            assertThat(estimate.earliest()).isBetween(database.minus(ROUND_TRIP), database);
            pass(Duration.ofSeconds(5));
        }
    }

    @Test
    void messageThatMayHaveExpiredIsNotDelivered() {
        clock.now();

        assertThat(decider.insteadOfDelivery(expiring(database.plusMillis(1))))
                .as("a moment before: the estimate is ahead by half the round trip")
                .isInstanceOf(Outcome.Expired.class);
        assertThat(decider.insteadOfDelivery(expiring(database.plus(ROUND_TRIP))))
                .isNull();
        assertThat(decider.insteadOfDelivery(expiring(database))).isInstanceOf(Outcome.Expired.class);
    }

    @Test
    void clockIsReadAgainAfterASixthOfALease() {
        InFlightMessage message = expiring(NOON.plusSeconds(3600));
        assertThat(decider.insteadOfDelivery(message)).isNull();
        pass(LEASE.dividedBy(7));
        assertThat(decider.insteadOfDelivery(message)).isNull();
        assertThat(readings).hasValue(1);

        pass(LEASE.dividedBy(6));
        assertThat(decider.insteadOfDelivery(message)).isNull();
        assertThat(readings).hasValue(2);
    }

    @Test
    void databaseWhoseClockWasSetIsNoticedWithinASixthOfALease() {
        InFlightMessage message = expiring(NOON.plusSeconds(3600));
        assertThat(decider.insteadOfDelivery(message)).isNull();
        database = database.plusSeconds(7200);

        pass(LEASE.dividedBy(6));

        assertThat(decider.insteadOfDelivery(message)).isInstanceOf(Outcome.Expired.class);
    }

    @Test
    void withoutTheDatabaseAReadingCountsForOneLease() {
        InFlightMessage message = expiring(NOON.plusSeconds(3600));
        assertThat(decider.insteadOfDelivery(message)).isNull();
        unreachable = true;

        pass(LEASE.dividedBy(2));
        assertThat(decider.insteadOfDelivery(message)).isNull();
        pass(LEASE.dividedBy(2));
        assertThat(decider.insteadOfDelivery(message))
                .as("it may have expired: another node, or this one later, decides")
                .isInstanceOf(Outcome.Released.class);
    }

    @Test
    void wallClockThatIsSetEndsNoMessage() {
        InFlightMessage message = expiring(NOON.plusSeconds(3600));
        assertThat(decider.insteadOfDelivery(message)).isNull();

        time.passWall(Duration.ofHours(2));
        assertThat(clock.known()).as("one of the two clocks is wrong").isNull();
        assertThat(decider.insteadOfDelivery(message)).as("by a new reading").isNull();
        assertThat(readings).hasValue(2);

        time.passWall(Duration.ofHours(-2));
        assertThat(decider.insteadOfDelivery(message)).isNull();
        assertThat(readings).hasValue(3);
    }

    @Test
    void computerThatSleptReadsTheClockAgain() {
        InFlightMessage message = expiring(NOON.plusSeconds(3600));
        assertThat(decider.insteadOfDelivery(message)).isNull();

        time.passWall(Duration.ofHours(2)); // the monotonic clock stood still
        database = database.plus(Duration.ofHours(2));

        assertThat(decider.insteadOfDelivery(message)).isInstanceOf(Outcome.Expired.class);
    }

    @Test
    void retryIsDueWhenTheMessageExpiresAtTheLatest() {
        clock.now();
        InFlightMessage message = expiring(database.plusSeconds(10));

        Outcome.Retry retry = (Outcome.Retry) decider.on(message, DeliveryResult.failed("busy"));

        assertThat(retry.delay())
                .as("not before it expires by the clock of the database")
                .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(10).plus(ROUND_TRIP.multipliedBy(2)));
        InFlightMessage later = expiring(database.plusSeconds(100));
        assertThat(((Outcome.Retry) decider.on(later, DeliveryResult.failed("busy"))).delay())
                .isEqualTo(Duration.ofMinutes(1));
        InFlightMessage over = expiring(database.minusSeconds(100));
        assertThat(((Outcome.Retry) decider.on(over, DeliveryResult.failed("busy"))).delay())
                .isZero();
    }

    @Test
    void topicDecidesWhetherAnExpiredMessageIsKept() {
        Topic removing = Topic.named("orders")
                .deliver(delivery -> {})
                .onExpiry(ExpiryPolicy.REMOVE)
                .build();
        InFlightMessage kept = expiring(NOON);
        InFlightMessage removed = new InFlightMessage(removing, kept.claim(), LeaseValidity.Stamp.now(time));

        assertThat(decider.insteadOfDelivery(kept)).isEqualTo(new Outcome.Expired(kept.claim(), false));
        assertThat(decider.insteadOfDelivery(removed)).isEqualTo(new Outcome.Expired(kept.claim(), true));
    }
}
