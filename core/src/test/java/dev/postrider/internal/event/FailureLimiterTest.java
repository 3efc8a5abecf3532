package dev.postrider.internal.event;

import static dev.postrider.internal.event.FailureLimiter.INTERVAL;
import static dev.postrider.internal.event.FailureLimiter.MOST_FINGERPRINTS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.MovedClock;
import dev.postrider.internal.event.FailureLimiter.Alike;
import dev.postrider.internal.event.FailureLimiter.CountedFailures;
import dev.postrider.internal.event.FailureLimiter.LimitDecision;
import dev.postrider.internal.event.FailureLimiter.LogLine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class FailureLimiterTest {

    private static final Duration MOMENT = Duration.ofMillis(1);
    private static final Alike BUSY = new Alike(FailureKind.ATTEMPT, "orders", "busy");
    private static final Alike REFUSED = new Alike(FailureKind.ATTEMPT, "orders", "refused");
    private static final Alike DEAD = new Alike(FailureKind.DEAD, "orders", "busy");

    private final MovedClock time = new MovedClock();
    private final FailureLimiter limiter = new FailureLimiter(time);

    @Test
    void firstFailureHasALineAndTheOthersOfTheIntervalAreCounted() {
        assertThat(decide(BUSY)).isEqualTo(LogLine.FIRST);
        assertThat(decide(BUSY)).isEqualTo(LogLine.NONE);
        time.pass(INTERVAL.minus(MOMENT));
        assertThat(decide(BUSY)).isEqualTo(LogLine.NONE);

        assertThat(limiter.takeAll()).containsExactly(new CountedFailures(BUSY, "503", 2));
        assertThat(limiter.takeAll()).isEmpty();
        assertThat(decide(BUSY)).as("a summary begins no interval").isEqualTo(LogLine.NONE);
    }

    @Test
    void eachIntervalHasALineAfterTheCountOfTheLast() {
        decide(BUSY);
        decide(BUSY);
        time.pass(INTERVAL);

        LimitDecision next = limiter.decide(BUSY, "503");

        assertThat(next).isEqualTo(new LimitDecision(LogLine.ANOTHER, List.of(new CountedFailures(BUSY, "503", 1))));
        assertThat(decide(BUSY)).isEqualTo(LogLine.NONE);
    }

    @Test
    void otherErrorsAndTopicsAndKindsAreNotAlike() {
        decide(BUSY);

        assertThat(decide(REFUSED)).isEqualTo(LogLine.FIRST);
        assertThat(decide(new Alike(FailureKind.ATTEMPT, "mail", "busy"))).isEqualTo(LogLine.FIRST);
        assertThat(decide(DEAD)).isEqualTo(LogLine.FIRST);
    }

    @Test
    void deadLettersHaveALineEachUpToALimit() {
        assertThat(decide(DEAD)).isEqualTo(LogLine.FIRST);
        for (int i = 1; i < FailureKind.DEAD.lines; i++) {
            assertThat(decide(DEAD)).isEqualTo(LogLine.ANOTHER);
        }
        assertThat(decide(DEAD)).isEqualTo(LogLine.NONE);

        time.pass(INTERVAL);
        assertThat(decide(DEAD)).isEqualTo(LogLine.ANOTHER);
        assertThat(decide(DEAD)).isEqualTo(LogLine.ANOTHER);
    }

    @Test
    void countedFailuresAreDueAnIntervalAfterTheFirstOfThem() {
        decide(BUSY);
        time.pass(INTERVAL);
        assertThat(limiter.takeDue()).as("none is counted").isEmpty();
        decide(REFUSED);
        decide(REFUSED);
        time.pass(INTERVAL.minus(MOMENT));
        assertThat(limiter.takeDue()).isEmpty();

        time.pass(MOMENT);

        assertThat(limiter.takeDue()).containsExactly(new CountedFailures(REFUSED, "503", 1));
        assertThat(limiter.takeDue()).isEmpty();
    }

    @Test
    void fingerprintsBeyondTheLimitAreCountedTogether() {
        for (int i = 0; i < MOST_FINGERPRINTS; i++) {
            assertThat(decide(numbered(i))).isEqualTo(LogLine.FIRST);
        }

        assertThat(decide(BUSY)).isEqualTo(LogLine.NONE);
        assertThat(decide(REFUSED)).isEqualTo(LogLine.NONE);
        assertThat(decide(DEAD)).isEqualTo(LogLine.NONE);

        assertThat(limiter.takeAll())
                .containsExactly(
                        new CountedFailures(new Alike(FailureKind.ATTEMPT, "", ""), "", 2),
                        new CountedFailures(new Alike(FailureKind.DEAD, "", ""), "", 1));
    }

    @Test
    void fingerprintThatWasNotSeenForAnIntervalMakesRoomAndItsCountIsKept() {
        decide(numbered(0));
        decide(numbered(0));
        for (int i = 1; i < MOST_FINGERPRINTS; i++) {
            decide(numbered(i));
        }
        time.pass(INTERVAL);

        assertThat(limiter.decide(BUSY, "503"))
                .isEqualTo(new LimitDecision(LogLine.FIRST, List.of(new CountedFailures(numbered(0), "503", 1))));
        assertThat(limiter.decide(numbered(0), "503")).isEqualTo(new LimitDecision(LogLine.FIRST, List.of()));
        assertThat(limiter.takeAll()).isEmpty();
    }

    /** Several threads, more fingerprints than there is room for, and a clock that moves. */
    @Test
    void linesAndCountsAddUpToTheFailures() throws Exception {
        int threads = 4;
        int each = 50_000;
        CyclicBarrier together = new CyclicBarrier(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<Long>> running = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int thread = t;
            Callable<Long> task = () -> {
                together.await(60, TimeUnit.SECONDS);
                long accounted = 0;
                for (int i = 0; i < each; i++) {
                    if (i % 100 == 0) {
                        time.pass(Duration.ofMillis(50));
                    }
                    LimitDecision decision =
                            limiter.decide(numbered((i * 7 + thread) % (2 * MOST_FINGERPRINTS)), "503");
                    accounted += decision.line() == LogLine.NONE ? 0 : 1;
                    accounted += sum(decision.counted());
                    accounted += i % 1000 == 0 ? sum(limiter.takeAll()) : sum(limiter.takeDue());
                }
                return accounted;
            };
            running.add(pool.submit(task));
        }
        long total = 0;
        for (Future<Long> one : running) {
            total += one.get(60, TimeUnit.SECONDS);
        }
        pool.shutdown();

        assertThat(total + sum(limiter.takeAll())).isEqualTo((long) threads * each);
    }

    private static long sum(List<CountedFailures> counted) {
        return counted.stream().mapToLong(CountedFailures::count).sum();
    }

    private LogLine decide(Alike alike) {
        LimitDecision decision = limiter.decide(alike, "503");
        return decision.line();
    }

    private static Alike numbered(int number) {
        return new Alike(FailureKind.ATTEMPT, "orders", "fingerprint-" + number);
    }
}
