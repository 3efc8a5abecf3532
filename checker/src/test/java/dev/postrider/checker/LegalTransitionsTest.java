package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class LegalTransitionsTest extends InvariantTest {

    LegalTransitionsTest() {
        super(new LegalTransitions());
    }

    @Test
    void lifeOfAMessageIsLegal() {
        story.written("a")
                .changed("a", null, "PENDING", null)
                .changed("a", "PENDING", "PROCESSING", "1")
                .changed("a", "PROCESSING", "PENDING", "1")
                .changed("a", "PENDING", "PROCESSING", "2")
                .changed("a", "PROCESSING", "DEAD", "2")
                .did("replay", "a")
                .changed("a", "DEAD", "PENDING", null)
                .changed("a", "PENDING", "PROCESSING", "3")
                .changed("a", "PROCESSING", null, "3");
        holds(8);
    }

    @Test
    void lifeInALaneIsLegal() {
        story.inOrder("k", "a1", "a2")
                .changed("a1", null, "PENDING", null)
                .changed("a2", null, "PENDING", null)
                .changed("a1", "PENDING", "RETRY", null)
                .changed("a2", "PENDING", "BLOCKED", null)
                .changed("a1", "RETRY", "PARKED", null)
                .did("release", "a1")
                .changed("a1", "PARKED", "RETRY", null)
                .changed("a1", "RETRY", null, null)
                .changed("a2", "BLOCKED", "RETRY", null)
                .changed("a2", "RETRY", null, null);
        holds(9);
    }

    @Test
    void deliveredMessageThatComesBackIsNot() {
        story.written("a")
                .changed("a", null, "PROCESSING", "1")
                .changed("a", "PROCESSING", null, "1")
                .changed("a", "PROCESSING", "PENDING", "1");
        isViolated(1, Story.id("a") + " went from PROCESSING to PENDING, and was GONE before");
    }

    @Test
    void deadLetterThatIsClaimedIsNot() {
        story.written("a").changed("a", null, "DEAD", null).changed("a", "DEAD", "PROCESSING", "1");
        isViolated(1, "went from DEAD to PROCESSING");
    }

    @Test
    void deadLetterThatComesBackByItselfIsNot() {
        story.written("a").changed("a", null, "DEAD", null).changed("a", "DEAD", "PENDING", null);
        isViolated(1, "without an operator");
    }

    @Test
    void deadLetterThatVanishesIsNot() {
        story.written("a").changed("a", null, "DEAD", null).changed("a", "DEAD", null, null);
        isViolated(1, "from DEAD to GONE without an operator");
    }

    @Test
    void unorderedMessageThatVanishesUnclaimedIsNot() {
        story.written("a").changed("a", null, "PENDING", null).changed("a", "PENDING", null, null);
        isViolated(1, "from PENDING to GONE");
    }

    @Test
    void waitingMessageThatIsReadAsANewOneIsNot() {
        story.inOrder("k", "a1")
                .changed("a1", null, "PENDING", null)
                .changed("a1", "PENDING", "RETRY", null)
                .changed("a1", "RETRY", "PENDING", null);
        isViolated(1, "from RETRY to PENDING");
    }

    @Test
    void nothingIsSaidWithoutALog() {
        story.written("a");
        isNotChecked("no changes of state were logged");
    }
}
