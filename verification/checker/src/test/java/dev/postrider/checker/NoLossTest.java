package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class NoLossTest extends InvariantTest {

    NoLossTest() {
        super(new NoLoss());
    }

    @Test
    void deadLetterThatWasPurgedIsNotLost() {
        story.written("a").changed("a", null, "PENDING", null);
        isViolated(1, Story.id("a").toString());
        story.changed("a", "PENDING", "DEAD", null).changed("a", "DEAD", null, null);
        holds(1);
        story.changed("a", null, "PENDING", null).changed("a", "PENDING", null, null);
        isViolated(1, Story.id("a").toString());
    }

    @Test
    void deliveredAndDeadMessagesAreNotLost() {
        story.written("a", "b", "c")
                .taken("w", "a")
                .row("b", "plain", "", "DEAD", 3, "REJECTED")
                .did("discard", "c");
        holds(3);
    }

    @Test
    void committedMessageWithoutADeliveryIsLost() {
        story.written("a", "b").taken("w", "a");
        isViolated(1, Story.id("b") + " was committed, and is neither delivered nor dead");
    }

    @Test
    void acknowledgedMessageThatWasNeverSentIsLost() {
        story.written("a").archived("a").started("w").acknowledged("w", "a");
        isViolated(1, "but archived");
    }

    @Test
    void refusedMessageThatIsGoneIsLost() {
        story.written("a").received("w", "a", 1).answered("w", "a", "refused");
        isViolated(1, "neither delivered nor dead");
    }

    @Test
    void lostAnswerToACommitIsDecidedByTheTable() {
        story.intended("a", "a", "plain", "", 0, "", 0, true)
                .line("producer-1", "unknown", "tx=" + Story.id("a"))
                .present("a")
                .intended("b", "b", "plain", "", 0, "", 0, true);
        isViolated(1, Story.id("a") + " was committed");
    }

    @Test
    void withoutTablesALostAnswerMayBeEither() {
        story.intended("a", "a", "plain", "", 0, "", 0, true)
                .line("producer-1", "unknown", "tx=" + Story.id("a"))
                .written("b")
                .taken("w", "b");
        holdsInJournals(1);
    }

    @Test
    void rolledBackMessagesAndSavepointsAreNotMissed() {
        story.intended("a", "a", "plain", "", 0, "", 0, true)
                .line("producer-1", "rolledback", "tx=" + Story.id("a"))
                .intended("b", "b", "plain", "", 0, "", 0, false)
                .intended("b", "c", "plain", "", 0, "", 0, true)
                .committed("b")
                .taken("w", "c");
        holds(1);
    }

    @Test
    void secondOfAnIdempotencyKeyIsNotMissed() {
        story.keyed("a", "k").keyed("b", "k").taken("w", "a");
        holds(2);
    }

    @Test
    void oneOfAnIdempotencyKeyMustBeThere() {
        story.keyed("a", "k").keyed("b", "k").keyed("c", "other").taken("w", "c");
        isViolated(1, "no message with one idempotency key is there, such as " + Story.id("a"));
    }

    @Test
    void keyOfATransactionThatRolledBackDoesNotExcuse() {
        story.intended("a", "a", "plain", "", 0, "k", 0, true)
                .line("producer-1", "rolledback", "tx=" + Story.id("a"))
                .keyed("b", "k");
        isViolated(1, Story.id("b").toString());
    }

    @Test
    void commitThatTheDatabaseForgotIsALoss() {
        story.intended("a", "a", "plain", "", 0, "", 0, true).line("producer-1", "committed", "tx=" + Story.id("a"));
        isViolated(1, "was committed, and left no row");
    }

    @Test
    void withoutTablesTheJournalsSayWhatIsDead() {
        story.written("a", "b").started("w").buried("w", "a", "REJECTED", 1);
        isViolatedInJournals(1, Story.id("b").toString());
    }

    @Test
    void withoutTablesWhatWasRejectedMayBeDead() {
        story.written("a", "b").started("w").received("w", "a", 1).answered("w", "a", "poison");
        story.received("w", "b", 1).answered("w", "b", "refused");
        isViolatedInJournals(1, Story.id("b").toString());
    }
}
