package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class NoPhantomTest extends InvariantTest {

    NoPhantomTest() {
        super(new NoPhantom());
    }

    private Story rolledBack(String name) {
        return story.intended(name, name, "plain", "", 0, "", 0, true)
                .line("producer-1", "rolledback", "tx=" + Story.id(name));
    }

    @Test
    void deliveriesOfCommittedMessagesAreNone() {
        rolledBack("b").written("a").taken("w", "a", "a").effect("c", "a").archived("a");
        holds(2);
    }

    @Test
    void deliveryOfARolledBackMessageIsOne() {
        rolledBack("a").taken("w", "a");
        isViolated(1, "whose transaction did not commit, was delivered");
        isViolatedInJournals(1, "whose transaction did not commit, was delivered");
    }

    @Test
    void deliveryBehindARolledBackSavepointIsOne() {
        story.intended("a", "a", "plain", "", 0, "", 0, false).committed("a").taken("w", "a");
        isViolated(1, "whose savepoint was rolled back, was delivered");
    }

    @Test
    void deliveryOfAnUnwrittenMessageIsAPhantom() {
        story.written("a").taken("w", "a", "b");
        isViolated(1, Story.id("b") + ", which no producer wrote, was delivered");
    }

    @Test
    void unansweredCommitThatLeftNoRowIsOne() {
        story.intended("a", "a", "plain", "", 0, "", 0, true).taken("w", "a");
        isViolated(1, "whose transaction did not commit");
        holdsInJournals(1);
    }

    @Test
    void rowAndArchiveAndEffectOfARolledBackMessageAreOnes() {
        rolledBack("a").row("a", "plain", "", "PENDING", 0, null);
        rolledBack("b").archived("b");
        rolledBack("c").effect("billing", "c");
        isViolated(3, "took effect");
    }

    @Test
    void transactionThatWasRolledBackAndIsThereIsOne() {
        rolledBack("a").present("a").written("b").taken("w", "b");
        isViolated(1, "was rolled back, and left its row");
    }

    @Test
    void transactionThatWasTriedAgainCounts() {
        story.intended("first", "a", "plain", "", 0, "", 0, true)
                .line("producer-1", "rolledback", "tx=" + Story.id("first"))
                .intended("second", "a", "plain", "", 0, "", 0, true)
                .committed("second")
                .taken("w", "a");
        holds(1);
    }
}
