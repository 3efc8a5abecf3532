package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.internal.Platform;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class BackgroundLoopTest {

    private static final Duration LONG = Duration.ofHours(1);

    private final List<Event> events = new CopyOnWriteArrayList<>();
    private final AtomicInteger rounds = new AtomicInteger();
    private final CountDownLatch third = new CountDownLatch(3);
    private final BackgroundLoop loop = new BackgroundLoop(Platform.system(), this, "test", events::add);

    @AfterEach
    void end() throws InterruptedException {
        loop.end();
        loop.awaitEnd(Duration.ofSeconds(60));
    }

    private void run(BackgroundLoop.Duty duty) {
        loop.start(() -> {
            rounds.incrementAndGet();
            third.countDown();
            return duty.runOnce();
        });
    }

    @Test
    void dutyIsDoneAgainAfterThePauseItAskedFor() throws InterruptedException {
        run(() -> Duration.ofMillis(1));

        assertThat(third.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void wakeUpEndsThePause() throws InterruptedException {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(2);
        run(() -> {
            first.countDown();
            second.countDown();
            return LONG;
        });
        assertThat(first.await(60, TimeUnit.SECONDS)).isTrue();

        loop.wake();

        assertThat(second.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void errorsEndNothing() throws InterruptedException {
        run(() -> {
            switch (rounds.get()) {
                case 1 -> throw FakeStore.unavailable();
                case 2 -> throw new StackOverflowError();
                default -> {
                    return LONG;
                }
            }
        });

        assertThat(third.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(events)
                .containsExactly(
                        new Event.StoreFailed("test", "unavailable", Duration.ofMillis(50)),
                        new Event.StoreFailed("test", "java.lang.StackOverflowError", Duration.ofMillis(100)));
    }

    @Test
    void interruptThatCalledCodeLeftBehindEndsNothing() throws InterruptedException {
        run(() -> {
            Thread.currentThread().interrupt();
            return Duration.ofMillis(1);
        });

        assertThat(third.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void wakingDoesNotShortenThePauseAfterAnError() throws InterruptedException {
        CountDownLatch failed = new CountDownLatch(1);
        long begin = System.nanoTime();
        run(() -> {
            failed.countDown();
            throw FakeStore.unavailable();
        });
        assertThat(failed.await(60, TimeUnit.SECONDS)).isTrue();
        long first = System.nanoTime();
        while (System.nanoTime() - first < TimeUnit.MILLISECONDS.toNanos(200)) {
            loop.wake();
        }

        int done = rounds.get();
        assertThat(done)
                .as("after 0, 50 and 150 ms, give or take")
                .isLessThanOrEqualTo(1 + roundsWithin(Duration.ofNanos(System.nanoTime() - begin)));
    }

    /** The pauses grow; a machine that stood still for a while has had time for more of them. */
    private static int roundsWithin(Duration time) {
        Backoff backoff = new Backoff();
        int rounds = 1;
        for (Duration next = backoff.next(); next.compareTo(time) <= 0; next = next.plus(backoff.next())) {
            rounds++;
        }
        return rounds;
    }

    @Test
    void endIsNotDelayedByAPauseOrByAnError() throws InterruptedException {
        run(() -> {
            throw FakeStore.unavailable();
        });
        assertThat(third.await(60, TimeUnit.SECONDS)).isTrue();

        loop.end();
        loop.awaitEnd(Duration.ofSeconds(60));

        int ended = rounds.get();
        loop.wake();
        assertThat(rounds).hasValue(ended);
    }

    @Test
    void loopThatWasNeverStartedEndsAtOnce() throws InterruptedException {
        loop.end();
        loop.awaitEnd(Duration.ofSeconds(60));

        assertThat(rounds).hasValue(0);
    }
}
