package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class CostBoundedIntervalTest {

    private static final long MILLI = 1_000_000;

    private final CostBoundedInterval seldom = new CostBoundedInterval(Duration.ofSeconds(1), 1000);

    @Test
    void isDueUntilItWasDoneOnce() {
        assertThat(seldom.isDue(0)).isTrue();
        assertThat(seldom.isDue(1)).isTrue();
    }

    @Test
    void hasItsShareOfTheTime() {
        seldom.done(0, 5 * MILLI);
        seldom.done(10 * MILLI, 15 * MILLI);

        assertThat(seldom.isDue(5014 * MILLI)).isFalse();
        assertThat(seldom.isDue(5015 * MILLI)).isTrue();
    }

    @Test
    void onlyWhatItTakesLongerThanTheCheapOneCounts() {
        for (int i = 0; i < 100; i++) {
            seldom.spared(0, 100 * MILLI);
        }
        seldom.done(0, 105 * MILLI);
        seldom.done(200 * MILLI, 305 * MILLI);

        assertThat(seldom.isDue(5304 * MILLI)).isFalse();
        assertThat(seldom.isDue(5306 * MILLI)).isTrue();
    }

    @Test
    void isNotDoneOftenerThanTheShortestPauseAllows() {
        seldom.done(0, MILLI);

        assertThat(seldom.isDue(1000 * MILLI)).isFalse();
        assertThat(seldom.isDue(1001 * MILLI)).isTrue();
    }

    @Test
    void isDoneOnceAMinuteWhateverItCosts() {
        seldom.done(0, 30_000 * MILLI);
        seldom.done(31_000 * MILLI, 61_000 * MILLI);

        assertThat(seldom.isDue(120_999 * MILLI)).isFalse();
        assertThat(seldom.isDue(121_000 * MILLI)).isTrue();
    }

    @Test
    void oneSlowTimeDoesNotCountAndTwoDo() {
        seldom.done(0, MILLI);
        seldom.done(2000 * MILLI, 2200 * MILLI);
        assertThat(seldom.isDue(3200 * MILLI)).isTrue();

        seldom.done(4000 * MILLI, 4200 * MILLI);
        assertThat(seldom.isDue(64_199 * MILLI)).isFalse();
        assertThat(seldom.isDue(64_200 * MILLI)).isTrue();
    }
}
