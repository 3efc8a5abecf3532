package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class CircuitBreakerTest {

    private static final DeliveryResult DOWN = DeliveryResult.failed("connection refused");

    private final Rig rig = new Rig("orders");
    private final CircuitBreaker breaker = rig.breaker(rig.topic());

    @Test
    void opensAfterSoManyFailuresInARowAndSaysWhy() {
        breaker.arm();
        breaker.failed("refused");
        breaker.failed("refused");
        breaker.answered();
        breaker.failed("refused");
        breaker.failed("refused");
        assertThat(breaker.limit()).as("not in a row").isEqualTo(Integer.MAX_VALUE);

        breaker.failed("timed out");

        assertThat(breaker.limit()).isZero();
        assertThat(rig.events(Event.CircuitOpened.class)).singleElement().satisfies(rests -> {
            assertThat(rests.failures()).isEqualTo(3);
            assertThat(rests.pause()).isEqualTo(Duration.ofSeconds(1));
            assertThat(rests.error()).isEqualTo("timed out");
        });
    }

    @Test
    void pauseDoublesEachTimeUpToTheLongest() {
        breaker.arm();
        breaker.failed("refused");
        breaker.failed("refused");
        for (int i = 0; i < 8; i++) {
            breaker.failed("refused");
            rig.time.pass(Duration.ofSeconds(30));
        }

        assertThat(rig.events(Event.CircuitOpened.class))
                .extracting(rests -> rests.pause().toSeconds())
                .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L, 30L);
    }

    @Test
    void failureOfWhatWasSentBeforeTheRestDoesNotProlongIt() {
        breaker.arm();
        for (int i = 0; i < 50; i++) {
            breaker.failed("refused");
        }

        assertThat(rig.events(Event.CircuitOpened.class)).hasSize(1);
        rig.time.pass(Duration.ofSeconds(1));
        assertThat(breaker.limit()).as("one at a time tries it").isEqualTo(1);
    }

    @Test
    void answerEndsTheRestAndItBeginsAnewNextTime() {
        breaker.arm();
        breaker.failed("refused");
        breaker.failed("refused");
        breaker.failed("refused");
        rig.time.pass(Duration.ofSeconds(1));
        breaker.failed("refused");

        breaker.answered();

        assertThat(breaker.limit()).isEqualTo(Integer.MAX_VALUE);
        assertThat(rig.events(Event.CircuitClosed.class)).hasSize(1);
        breaker.failed("refused");
        breaker.failed("refused");
        breaker.failed("refused");
        assertThat(rig.events(Event.CircuitOpened.class))
                .extracting(rests -> rests.pause().toSeconds())
                .containsExactly(1L, 2L, 1L);
    }

    @Test
    void onlyCountsUntilItIsArmed() {
        for (int i = 0; i < 10; i++) {
            breaker.failed("refused");
        }

        assertThat(breaker.limit()).isEqualTo(Integer.MAX_VALUE);
        assertThat(rig.events(Event.CircuitOpened.class)).isEmpty();
    }

    @Test
    void canBeSwitchedOff() {
        Topic without = Topic.named("orders").breakerFailures(0).build();
        CircuitBreaker never = new CircuitBreaker(without, rig.time, rig.events::add, (topic, pause) -> {});
        never.arm();

        for (int i = 0; i < 1000; i++) {
            never.failed("refused");
        }

        assertThat(never.limit()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void topicWithAnOpenCircuitIsNotClaimedAndThenByOneMessageAtATime() {
        breaker.arm();
        rig.answer = delivery -> CompletableFuture.completedFuture(DOWN);
        rig.store.enqueue("orders", 500);
        rig.scans.scanNow();
        rig.loop.runOnce();
        rig.writer.runOnce();
        int before = rig.sent.size();
        int claims = rig.store.claims.size();

        rig.scans.scanNow();
        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofSeconds(1));
        assertThat(rig.store.claims).hasSize(claims);

        rig.time.pass(Duration.ofSeconds(1));
        rig.loop.runOnce();
        rig.writer.runOnce();
        assertThat(rig.sent).hasSize(before + 1);

        rig.answer = delivery -> CompletableFuture.completedFuture(DeliveryResult.delivered());
        rig.time.pass(Duration.ofSeconds(2));
        rig.loop.runOnce();
        rig.writer.runOnce();
        rig.loop.runOnce();
        assertThat(rig.sent).as("one that shows that it is back, and then all").hasSizeGreaterThan(before + 50);
    }

    @Test
    void lanesOfATopicWithAnOpenCircuitReleaseUnsentMessages() {
        LaneRig lanes = new LaneRig(1);
        lanes.breaker.arm();
        Lane lane = lanes.take();
        LaneClaim[] first = {lanes.next(lane, "a"), lanes.next(lane, "b"), lanes.next(lane, "c")};
        lanes.offer(first);
        LaneClaim waiting = lanes.next(lane, "d");
        lanes.offer(waiting);
        for (LaneClaim claim : first) {
            lanes.answer(claim, DOWN);
            lanes.write();
        }

        assertThat(lanes.sent()).containsExactly("1", "2", "3");
        assertThat(lanes.inFlight.count()).as("the lane can go to another node").isZero();

        lanes.time.pass(Duration.ofSeconds(1));
        LaneClaim other = lanes.next(lane, "e");
        lanes.offer(waiting, other);
        assertThat(lanes.sent()).containsExactly("1", "2", "3", "4");

        lanes.deliver(waiting);
        lanes.write();
        assertThat(lanes.sent()).containsExactly("1", "2", "3", "4", "5");
    }

    @Test
    void refusalShowsThatAListenerIsThere() {
        breaker.arm();
        rig.answer = delivery -> CompletableFuture.completedFuture(
                rig.sent.size() % 3 == 0 ? DeliveryResult.rejected("bad request") : DOWN);
        rig.store.enqueue("orders", 30);
        rig.scans.scanNow();

        rig.loop.runOnce();

        assertThat(rig.sent).hasSize(30);
        assertThat(rig.events(Event.CircuitOpened.class)).isEmpty();
    }
}
