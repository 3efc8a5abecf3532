package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class DueScanStartTest {

    private static final long SECOND = 1_000_000_000;
    private static final long QUICK = SECOND / 1000;
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final DueScanStart scanStart = new DueScanStart();
    private long now = 5 * SECOND;

    @Test
    void fullScanRunsEverySecondWhileItIsCheap() {
        assertThat(look(QUICK, true, NOON)).isEqualTo(Instant.EPOCH);
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(60));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(15));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(5));

        now += SECOND;
        assertThat(look(QUICK, false)).isEqualTo(Instant.EPOCH);
    }

    @Test
    void fullScanRunsOnceAMinuteWhenItTakesLong() {
        costly();

        now += 30 * SECOND;
        assertThat(scanStart.startOfPeek(now)).isEqualTo(NOON.minusSeconds(5));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(15));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(5));

        now += 30 * SECOND;
        assertThat(scanStart.startOfPeek(now)).isEqualTo(Instant.EPOCH);
        assertThat(look(SECOND, false)).isEqualTo(Instant.EPOCH);
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(60));
    }

    @Test
    void goesOnWhereItEndedWhileThereIsMore() {
        costly();
        look(QUICK, true, NOON.plusSeconds(2));

        assertThat(look(QUICK, true, NOON.plusSeconds(3))).isEqualTo(NOON.plusSeconds(2));
        assertThat(look(QUICK, false, NOON.plusSeconds(4))).isEqualTo(NOON.plusSeconds(3));
        assertThat(look(QUICK, false))
                .as("and a little earlier when there is not")
                .isEqualTo(NOON.minusSeconds(1));
    }

    @Test
    void followsAClockThatWasSetBack() {
        costly();
        look(QUICK, false, NOON.minusSeconds(3600));

        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(3605));
    }

    @Test
    void beginsLaterWhereNothingCanAppear() {
        costly();
        claim(NOON, 11, 11);
        claim(NOON.plusSeconds(1), 12, 11);
        assertThat(scanStart.begin(now).from()).as("11 may still be under way").isEqualTo(NOON.minusSeconds(4));

        claim(NOON.plusSeconds(2), 13, 12);
        assertThat(scanStart.begin(now).from()).as("a second before the first").isEqualTo(NOON.minusSeconds(1));

        claim(NOON.plusSeconds(60), 14, 13);
        assertThat(scanStart.begin(now).from()).as("13 may be under way").isEqualTo(NOON.plusSeconds(55));

        claim(NOON.plusSeconds(60), 15, 15);
        assertThat(scanStart.begin(now).from()).isEqualTo(NOON.plusSeconds(55));
        claim(NOON.plusSeconds(60), 16, 16);
        assertThat(scanStart.begin(now).from()).isEqualTo(NOON.plusSeconds(59));
    }

    @Test
    void goesOnWhereItEndedWhenThatWasLongAgoAndNothingCanAppearBefore() {
        costly();
        claim(NOON.plusSeconds(60), 11, 11);
        claim(NOON.plusSeconds(61), 12, 12);
        scanStart.ended(scanStart.begin(now), due(NOON.plusSeconds(2)), false, now);

        assertThat(scanStart.begin(now).from()).isEqualTo(NOON.plusSeconds(2));
    }

    @Test
    void scanThatOnlyContinuesProvesNothing() {
        costly();
        claim(NOON, 11, 11);
        look(QUICK, true, NOON.plusSeconds(3));
        DueScanStart.DueScan goingOn = scanStart.begin(now);
        DueScanStart.Snapshot snapshot = new DueScanStart.Snapshot(NOON.plusSeconds(3), 12, 12);
        scanStart.ended(goingOn, new ClaimStatements.DueClaim(List.of(row(NOON.plusSeconds(3))), snapshot), false, now);

        assertThat(goingOn.from()).isEqualTo(NOON.plusSeconds(3));
        assertThat(scanStart.begin(now).from())
                .as("what has appeared before it is found by this one")
                .isEqualTo(NOON.minusSeconds(2));
        claim(NOON.plusSeconds(3), 13, 13);
        assertThat(scanStart.begin(now).from()).isEqualTo(NOON.minusSeconds(1));
    }

    @Test
    void whatWasProvedByAClockThatWasSetBackIsForgotten() {
        costly();
        claim(NOON.plusSeconds(60), 11, 11);
        claim(NOON.plusSeconds(60), 12, 12);
        claim(NOON, 13, 13);

        assertThat(scanStart.begin(now).from()).isEqualTo(NOON.minusSeconds(5));
    }

    /** One message that came due at the same moment, and what the claim tells of transactions. */
    private void claim(Instant at, long transaction, long finishedBefore) {
        DueScanStart.Snapshot snapshot = new DueScanStart.Snapshot(at, transaction, finishedBefore);
        scanStart.ended(scanStart.begin(now), new ClaimStatements.DueClaim(List.of(row(at)), snapshot), false, now);
    }

    /** Each of those that go further back, twice. */
    private void costly() {
        for (int i = 0; i < 2; i++) {
            now += SECOND;
            assertThat(look(SECOND, false, NOON)).isEqualTo(Instant.EPOCH);
            assertThat(look(SECOND / 10, false, NOON)).isEqualTo(NOON.minusSeconds(60));
            assertThat(look(SECOND / 20, false, NOON)).isEqualTo(NOON.minusSeconds(15));
        }
    }

    private Instant look(long took, boolean full, Instant... claimed) {
        DueScanStart.DueScan look = scanStart.begin(now);
        now += took;
        scanStart.ended(look, due(claimed), full, now);
        return look.from();
    }

    private static ClaimStatements.DueClaim due(Instant... claimed) {
        return new ClaimStatements.DueClaim(
                Stream.of(claimed).map(DueScanStartTest::row).toList(), null);
    }

    private static ClaimedRow row(Instant availableAt) {
        return new ClaimedRow(1, null, null, "nothing to be read", null, null, 1, 0, availableAt);
    }
}
