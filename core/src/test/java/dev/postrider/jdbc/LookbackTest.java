package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class LookbackTest {

    private static final long SECOND = 1_000_000_000;
    private static final Duration MARGIN = Duration.ofSeconds(5);

    private final Lookback lookback = new Lookback();

    @Test
    void firstLookGoesAllTheWayAndTheNextToWhereItBegan() {
        Lookback.Look first = lookback.begin(100 * SECOND);
        lookback.ended(first, true, 101 * SECOND);

        assertThat(first.span()).isEqualTo(Lookback.EVER);
        assertThat(lookback.begin(103 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(3));
    }

    @Test
    void goesAllTheWayAgainWhenThatHasBecomeCheapEnough() {
        lookback.ended(lookback.begin(0), true, SECOND / 10);

        assertThat(lookback.begin(10 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(10));
        assertThat(lookback.begin(11 * SECOND).span()).isEqualTo(Lookback.EVER);
    }

    @Test
    void wholeLookThatWasCutShortIsRepeated() {
        lookback.ended(lookback.begin(0), false, SECOND);
        Lookback.Look second = lookback.begin(2 * SECOND);
        lookback.ended(second, true, 3 * SECOND);

        assertThat(second.span()).isEqualTo(Lookback.EVER);
        assertThat(lookback.begin(4 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(2));
    }

    @Test
    void lookThatFailedOrWasCutShortIsCoveredByTheNext() {
        lookback.ended(lookback.begin(0), true, SECOND);
        lookback.begin(2 * SECOND); // and fails
        lookback.ended(lookback.begin(3 * SECOND), false, 4 * SECOND);

        assertThat(lookback.begin(5 * SECOND).span()).isEqualTo(MARGIN.plusSeconds(5));
    }
}
