package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class OneMessagePerKeyTest extends InvariantTest {

    OneMessagePerKeyTest() {
        super(new OneMessagePerKey());
    }

    @Test
    void secondOneIsNeverSeen() {
        story.keyed("a", "k").keyed("b", "k").keyed("c", "l").taken("w", "b", "c");
        holds(3);
    }

    @Test
    void bothDeliveredIsNoticed() {
        story.keyed("a", "k").keyed("b", "k").taken("w", "a", "b");
        isViolated(1, "messages " + Story.id("a") + " and " + Story.id("b") + " have the same idempotency key");
    }

    @Test
    void oneDeliveredAndOneLeftInTheTableIsNoticed() {
        story.keyed("a", "k").keyed("b", "k").taken("w", "a").row("b", "plain", "", "DEAD", 1, "REJECTED");
        isViolated(1, "have the same idempotency key");
    }

    @Test
    void topicsDoNotShareKeys() {
        story.keyed("a", "k")
                .intended("b", "b", "ordered", "x", 1, "k", 0, true)
                .committed("b")
                .taken("w", "a", "b");
        holds(2);
    }
}
