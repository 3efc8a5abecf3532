package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
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
    private BackgroundLoop loop = new BackgroundLoop(Surroundings.system(), this, "test", () -> LONG, events::add);

    @AfterEach
    void end() throws InterruptedException {
        loop.end();
        loop.awaitEnd(Duration.ofSeconds(10));
    }

    private void run(BackgroundLoop.Duty duty) {
        loop = new BackgroundLoop(
                Surroundings.system(),
                this,
                "test",
                () -> {
                    rounds.incrementAndGet();
                    third.countDown();
                    return duty.runOnce();
                },
                events::add);
        loop.start();
    }

    @Test
    void dutyIsDoneAgainAfterThePauseItAskedFor() throws InterruptedException {
        run(() -> Duration.ofMillis(1));

        assertThat(third.await(10, TimeUnit.SECONDS)).isTrue();
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
        assertThat(first.await(10, TimeUnit.SECONDS)).isTrue();

        loop.wake();

        assertThat(second.await(10, TimeUnit.SECONDS)).isTrue();
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

        assertThat(third.await(10, TimeUnit.SECONDS)).isTrue();
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

        assertThat(third.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void wakingDoesNotShortenThePauseAfterAnError() throws InterruptedException {
        CountDownLatch failed = new CountDownLatch(1);
        run(() -> {
            failed.countDown();
            throw FakeStore.unavailable();
        });
        assertThat(failed.await(10, TimeUnit.SECONDS)).isTrue();
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(200)) {
            loop.wake();
        }

        assertThat(rounds.get()).as("after 0, 50 and 150 ms, give or take").isLessThanOrEqualTo(4);
    }

    @Test
    void endIsNotHeldUpByAPauseOrByAnError() throws InterruptedException {
        run(() -> {
            throw FakeStore.unavailable();
        });
        assertThat(third.await(10, TimeUnit.SECONDS)).isTrue();

        loop.end();
        loop.awaitEnd(Duration.ofSeconds(10));

        int ended = rounds.get();
        loop.wake();
        assertThat(rounds).hasValue(ended);
    }

    @Test
    void loopThatWasNeverStartedEndsAtOnce() throws InterruptedException {
        loop.end();
        loop.awaitEnd(Duration.ofSeconds(10));

        assertThat(rounds).hasValue(0);
    }
}
