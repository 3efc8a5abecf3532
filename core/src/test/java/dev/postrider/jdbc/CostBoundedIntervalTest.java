package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class CostBoundedIntervalTest {

    private static final long MILLI = 1_000_000;

    private final CostBoundedInterval interval = new CostBoundedInterval(Duration.ofSeconds(1), 1000);

    @Test
    void isDueUntilItWasDoneOnce() {
        assertThat(interval.isDue(0)).isTrue();
        assertThat(interval.isDue(1)).isTrue();
    }

    @Test
    void hasItsShareOfTheTime() {
        interval.done(0, 5 * MILLI);
        interval.done(10 * MILLI, 15 * MILLI);

        assertThat(interval.isDue(5014 * MILLI)).isFalse();
        assertThat(interval.isDue(5015 * MILLI)).isTrue();
    }

    @Test
    void onlyWhatItTakesLongerThanTheCheapOneCounts() {
        for (int i = 0; i < 100; i++) {
            interval.spared(0, 100 * MILLI);
        }
        interval.done(0, 105 * MILLI);
        interval.done(200 * MILLI, 305 * MILLI);

        assertThat(interval.isDue(5304 * MILLI)).isFalse();
        assertThat(interval.isDue(5306 * MILLI)).isTrue();
    }

    @Test
    void isNotDoneOftenerThanTheShortestPauseAllows() {
        interval.done(0, MILLI);

        assertThat(interval.isDue(1000 * MILLI)).isFalse();
        assertThat(interval.isDue(1001 * MILLI)).isTrue();
    }

    @Test
    void isDoneOnceAMinuteWhateverItCosts() {
        interval.done(0, 30_000 * MILLI);
        interval.done(31_000 * MILLI, 61_000 * MILLI);

        assertThat(interval.isDue(120_999 * MILLI)).isFalse();
        assertThat(interval.isDue(121_000 * MILLI)).isTrue();
    }

    @Test
    void oneSlowTimeDoesNotCountAndTwoDo() {
        interval.done(0, MILLI);
        interval.done(2000 * MILLI, 2200 * MILLI);
        assertThat(interval.isDue(3200 * MILLI)).isTrue();

        interval.done(4000 * MILLI, 4200 * MILLI);
        assertThat(interval.isDue(64_199 * MILLI)).isFalse();
        assertThat(interval.isDue(64_200 * MILLI)).isTrue();
    }
}
