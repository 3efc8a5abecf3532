package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

final class ZipfTest {

    private static final int DRAWS = 200_000;

    @Test
    void firstOfTenThousandIsATenthOfAll() {
        int[] counts = counts(new Zipf(10_000));

        assertThat(counts[0] / (double) DRAWS).isBetween(0.09, 0.11);
        assertThat((double) counts[1]).isCloseTo(counts[0] / 2.0, Percentage.withPercentage(10));
        assertThat((double) counts[9]).isCloseTo(counts[0] / 10.0, Percentage.withPercentage(15));
    }

    @Test
    void everyRankComesUp() {
        assertThat(counts(new Zipf(50))).doesNotContain(0).hasSize(50);
    }

    private static int[] counts(Zipf zipf) {
        Random random = new Random(1);
        int[] counts = new int[zipf.ranks()];
        for (int i = 0; i < DRAWS; i++) {
            counts[zipf.next(random)]++;
        }
        return counts;
    }
}
