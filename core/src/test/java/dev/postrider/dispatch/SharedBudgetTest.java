package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.TopicName;
import org.junit.jupiter.api.Test;

final class SharedBudgetTest {

    private static final TopicName A = TopicName.of("a");
    private static final TopicName B = TopicName.of("b");

    @Test
    void onlyTopicHasEverything() {
        SharedBudget budget = new SharedBudget(7, 1);

        assertThat(budget.free(A)).isEqualTo(7);
        budget.take(A, 5);
        assertThat(budget.free(A)).isEqualTo(2);
        budget.take(A, 4);
        assertThat(budget.free(A)).isEqualTo(-2);
        budget.take(A, -9);
        assertThat(budget.free(A)).isEqualTo(7);
    }

    @Test
    void topicNeverTakesTheShareOfAnother() {
        SharedBudget budget = new SharedBudget(100, 2);
        assertThat(budget.most()).isEqualTo(75);

        budget.take(A, 1000);
        assertThat(budget.free(A)).isNegative();
        assertThat(budget.free(B)).isEqualTo(25);
        budget.take(B, 25);
        assertThat(budget.free(B)).as("the common half is taken").isNegative();

        budget.take(A, -1000);
        assertThat(budget.free(A)).isEqualTo(75);
        assertThat(budget.free(B)).isEqualTo(50);
        assertThat(budget.taken()).isEqualTo(25);
    }

    @Test
    void eachOfManyTopicsHasOne() {
        SharedBudget budget = new SharedBudget(3, 500);

        budget.take(A, 1);

        assertThat(budget.free(A)).isZero();
        assertThat(budget.free(B)).isEqualTo(1);
    }
}
