package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class SeldomTest {

    private static final long MILLI = 1_000_000;

    private final Seldom seldom = new Seldom(Duration.ofSeconds(1));

    @Test
    void isDueUntilItWasDoneOnce() {
        assertThat(seldom.isDue(0)).isTrue();
        assertThat(seldom.isDue(1)).isTrue();
    }

    @Test
    void hasAHundredthOfTheTime() {
        seldom.done(0, 50 * MILLI);

        assertThat(seldom.isDue(5049 * MILLI)).isFalse();
        assertThat(seldom.isDue(5050 * MILLI)).isTrue();
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

        assertThat(seldom.isDue(89_999 * MILLI)).isFalse();
        assertThat(seldom.isDue(90_000 * MILLI)).isTrue();
    }

    @Test
    void oneSlowTimeDoesNotCountAndTwoDo() {
        seldom.done(0, MILLI);
        seldom.done(2000 * MILLI, 2200 * MILLI);
        assertThat(seldom.isDue(3200 * MILLI)).isTrue();

        seldom.done(4000 * MILLI, 4200 * MILLI);
        assertThat(seldom.isDue(24_199 * MILLI)).isFalse();
        assertThat(seldom.isDue(24_200 * MILLI)).isTrue();
    }
}
