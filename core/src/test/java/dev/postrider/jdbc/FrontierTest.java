package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FrontierTest {

    private static final long SECOND = 1_000_000_000;
    private static final long QUICK = SECOND / 1000;
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final Frontier frontier = new Frontier();
    private long now = 5 * SECOND;

    @Test
    void looksFromTheBeginningEverySecondWhileThatIsCheap() {
        assertThat(look(QUICK, true, NOON)).isEqualTo(Instant.EPOCH);
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(60));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(15));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(5));

        now += SECOND;
        assertThat(look(QUICK, false)).isEqualTo(Instant.EPOCH);
    }

    @Test
    void looksFromTheBeginningOnceAMinuteWhenThatTakesLong() {
        costly();

        now += 30 * SECOND;
        assertThat(frontier.startOfPeek(now)).isEqualTo(NOON.minusSeconds(5));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(15));
        assertThat(look(QUICK, false)).isEqualTo(NOON.minusSeconds(5));

        now += 30 * SECOND;
        assertThat(frontier.startOfPeek(now)).isEqualTo(Instant.EPOCH);
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
        Frontier.Look look = frontier.begin(now);
        now += took;
        frontier.ended(look, List.of(claimed).stream().map(FrontierTest::row).toList(), full, now);
        return look.from();
    }

    private static ClaimedRow row(Instant availableAt) {
        return new ClaimedRow(1, null, null, "nothing to be read", 1, 0, availableAt);
    }
}
