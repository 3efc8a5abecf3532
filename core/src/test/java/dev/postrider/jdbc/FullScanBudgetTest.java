package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class FullScanBudgetTest {

    private static final long MILLI = 1_000_000;

    private final FullScanBudget looks = new FullScanBudget();

    @Test
    void allLanesAtOnceWhileThatIsCheap() {
        assertThat(looks.room(0)).isGreaterThan(1000);
        looks.took(16, 0, 4 * MILLI);

        assertThat(looks.room(4 * MILLI)).isEqualTo(200);
    }

    @Test
    void oneByOneAndNowAndThenWhenItTakesLong() {
        looks.took(16, 0, 1600 * MILLI);
        assertThat(looks.room(1600 * MILLI)).as("it may have been a pause").isEqualTo(1);
        looks.took(1, 1600 * MILLI, 1700 * MILLI);

        assertThat(looks.room(61_699 * MILLI)).isZero();
        assertThat(looks.room(61_700 * MILLI)).isEqualTo(1);
    }

    @Test
    void timeOfAnyScanIsNotChargedToFullScans() {
        for (int i = 0; i < 100; i++) {
            looks.took(0, 0, 100 * MILLI);
        }
        looks.took(4, 0, 100 * MILLI);
        looks.took(2, 100 * MILLI, 200 * MILLI);

        assertThat(looks.room(201 * MILLI)).isEqualTo(1);
    }
}
