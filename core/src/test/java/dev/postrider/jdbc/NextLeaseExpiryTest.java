package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class NextLeaseExpiryTest {

    private static final long SECOND = 1_000_000_000;

    private final NextLeaseExpiry first = new NextLeaseExpiry();

    @Test
    void isAskedAgainAsOftenAsThatIsCheap() {
        answer(0, SECOND / 100, Duration.ofSeconds(30));
        answer(SECOND / 100, SECOND / 50, Duration.ofSeconds(30));

        assertThat(first.begin(10 * SECOND)).isNull();
        assertThat(first.left(10 * SECOND)).isEqualTo(Duration.ofMillis(20_020));
        assertThat(first.begin(11 * SECOND)).isNotNull();
    }

    @Test
    void isAskedAgainWhenItsTimeHasCome() {
        answer(0, SECOND / 10, Duration.ofSeconds(3));
        answer(SECOND / 10, SECOND / 5, Duration.ofSeconds(3));

        assertThat(first.begin(3 * SECOND)).isNull();
        assertThat(first.begin(4 * SECOND)).isNotNull();
        assertThat(first.left(4 * SECOND)).isNegative();
    }

    @Test
    void noneIsAnAnswerToo() {
        answer(0, SECOND / 10, null);
        answer(SECOND / 10, SECOND / 5, null);

        assertThat(first.left(SECOND)).isNull();
        assertThat(first.begin(SECOND)).isNull();
    }

    @Test
    void claimOfOnesOwnNeedsNoQuestion() {
        answer(0, SECOND / 10, null);
        answer(SECOND / 10, SECOND / 5, null);
        first.leased(Duration.ofSeconds(5), SECOND);
        first.leased(Duration.ofSeconds(5), 2 * SECOND);

        assertThat(first.begin(3 * SECOND)).isNull();
        assertThat(first.left(3 * SECOND)).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void isAskedAgainBeforeALeaseThatBeganAfterTheAnswerEnds() {
        first.claimsFor(Duration.ofSeconds(2));
        answer(0, SECOND / 10, null);
        answer(SECOND / 10, SECOND / 5, null);

        assertThat(first.begin(SECOND)).isNull();
        assertThat(first.begin(SECOND / 10 + SECOND)).isNotNull();
    }

    @Test
    void endlessLeaseOfARowDoesNoHarm() {
        answer(0, 1, Duration.ofDays(3_000_000));

        assertThat(first.left(1)).isEqualTo(Duration.ofDays(1));
    }

    private void answer(long began, long ended, @Nullable Duration left) {
        first.ended(Objects.requireNonNull(first.begin(began)), left, ended);
    }
}
