package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class ScanWindowTest {

    private static final long SECOND = 1_000_000_000;
    private static final Duration MARGIN = Duration.ofSeconds(5);

    private final ScanWindow window = new ScanWindow();

    @Test
    void firstScanGoesAllTheWayAndTheNextToWhereItBegan() {
        assertThat(window.begin(100 * SECOND).span()).isEqualTo(ScanWindow.EVER);
        costly(100 * SECOND);

        assertThat(window.begin(103 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(2));
    }

    @Test
    void goesAllTheWayAgainWhenThatHasBecomeCheapEnough() {
        costly(0);

        assertThat(window.begin(60 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(59));
        assertThat(window.begin(62 * SECOND).span()).isEqualTo(ScanWindow.EVER);
    }

    @Test
    void fullScanThatWasCutShortIsRepeated() {
        costly(0);
        ScanWindow.Scan third = window.begin(100 * SECOND);
        window.ended(third, false, 101 * SECOND);
        ScanWindow.Scan fourth = window.begin(102 * SECOND);
        window.ended(fourth, true, 103 * SECOND);

        assertThat(third.span()).isEqualTo(ScanWindow.EVER);
        assertThat(fourth.span()).isEqualTo(ScanWindow.EVER);
        assertThat(window.begin(104 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(2));
    }

    @Test
    void scanThatFailedOrWasCutShortIsCoveredByTheNext() {
        costly(0);
        window.begin(3 * SECOND); // and fails
        window.ended(window.begin(4 * SECOND), false, 5 * SECOND);

        assertThat(window.begin(6 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(5));
    }

    /** Two looks all the way, the second of which begins a second later. */
    private void costly(long nanos) {
        window.ended(window.begin(nanos), true, nanos + SECOND);
        window.ended(window.begin(nanos + SECOND), true, nanos + 2 * SECOND);
    }
}
