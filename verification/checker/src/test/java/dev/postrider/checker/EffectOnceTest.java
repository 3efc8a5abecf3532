package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class EffectOnceTest extends InvariantTest {

    EffectOnceTest() {
        super(new EffectOnce());
    }

    @Test
    void onceForEachConsumerIsRight() {
        story.written("a", "b")
                .handled("billing", "a")
                .effect("billing", "a")
                .marked("billing", "a")
                .effect("audit", "a")
                .effect("billing", "b");
        holds(3);
    }

    @Test
    void twiceIsNot() {
        story.written("a").effect("billing", "a").effect("billing", "a");
        isViolated(1, Story.id("a") + " for billing took effect again");
    }

    @Test
    void handledWithoutAnEffectIsNot() {
        story.written("a").handled("billing", "a").effect("audit", "a");
        isViolated(1, "for billing was handled without an effect");
    }

    @Test
    void markThatSwallowedItsMessageIsNot() {
        story.written("a").effect("billing", "b").marked("billing", "b").marked("billing", "a");
        isViolated(1, Story.id("a") + " for billing is marked, and took no effect");
    }

    @Test
    void handlerOfADurableInboxMayHaveGivenItUp() {
        story.written("a", "b")
                .effect("billing.invoice", "b")
                .marked("billing", "b")
                .marked("billing", "a")
                .row("copy", "inbox/billing.invoice", "", "DEAD", 3, "ATTEMPTS_EXHAUSTED");
        holds(1);
        story.written("c").marked("billing", "c");
        isViolated(1, "is marked, and took no effect");
    }

    @Test
    void sumThatIsNotThatOfTheEffectsIsNot() {
        story.written("a").effect("billing", "a").sql("INSERT INTO torture_counter VALUES ('sum/billing', 10)");
        isViolated(1, "sum/billing is 10, and its effects come to 5");
    }

    @Test
    void nothingIsSaidWithoutEffects() {
        story.written("a");
        isNotChecked("0 messages");
    }
}
