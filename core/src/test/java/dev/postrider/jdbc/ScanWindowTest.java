package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class ScanWindowTest {

    private static final long SECOND = 1_000_000_000;
    private static final Duration MARGIN = Duration.ofSeconds(5);

    private final ScanWindow lookback = new ScanWindow();

    @Test
    void firstScanGoesAllTheWayAndTheNextToWhereItBegan() {
        assertThat(lookback.begin(100 * SECOND).span()).isEqualTo(ScanWindow.EVER);
        costly(100 * SECOND);

        assertThat(lookback.begin(103 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(2));
    }

    @Test
    void goesAllTheWayAgainWhenThatHasBecomeCheapEnough() {
        costly(0);

        assertThat(lookback.begin(60 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(59));
        assertThat(lookback.begin(62 * SECOND).span()).isEqualTo(ScanWindow.EVER);
    }

    @Test
    void fullScanThatWasCutShortIsRepeated() {
        costly(0);
        ScanWindow.Scan third = lookback.begin(100 * SECOND);
        lookback.ended(third, false, 101 * SECOND);
        ScanWindow.Scan fourth = lookback.begin(102 * SECOND);
        lookback.ended(fourth, true, 103 * SECOND);

        assertThat(third.span()).isEqualTo(ScanWindow.EVER);
        assertThat(fourth.span()).isEqualTo(ScanWindow.EVER);
        assertThat(lookback.begin(104 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(2));
    }

    @Test
    void scanThatFailedOrWasCutShortIsCoveredByTheNext() {
        costly(0);
        lookback.begin(3 * SECOND); // and fails
        lookback.ended(lookback.begin(4 * SECOND), false, 5 * SECOND);

        assertThat(lookback.begin(6 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(5));
    }

    /** Two looks all the way, the second of which begins a second later. */
    private void costly(long nanos) {
        lookback.ended(lookback.begin(nanos), true, nanos + SECOND);
        lookback.ended(lookback.begin(nanos + SECOND), true, nanos + 2 * SECOND);
    }
}
