package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

final class NumberSetTest {

    @Test
    void setAnswersAsATreeDoes() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            NumberSet numbers = new NumberSet();
            TreeSet<Long> expected = new TreeSet<>();
            for (int i = 0; i < 2_000; i++) {
                long number = (long) i / 4 + random.nextInt(1 + seed);
                if (random.nextInt(5) < 3) {
                    assertThat(numbers.add(number)).isEqualTo(expected.add(number));
                } else {
                    assertThat(numbers.remove(number)).isEqualTo(expected.remove(number));
                }
                if (random.nextInt(50) == 0) {
                    expected.forEach(numbers::remove);
                    expected.clear();
                }
                assertThat(numbers.isEmpty()).isEqualTo(expected.isEmpty());
                assertThat(numbers.contains(number)).isEqualTo(expected.contains(number));
                if (!expected.isEmpty()) {
                    assertThat(numbers.first()).isEqualTo(expected.first());
                }
                assertThat(numbers.above(number)).isEqualTo(List.copyOf(expected.tailSet(number, false)));
            }
        }
    }
}
