package dev.postrider.checker;

import static org.assertj.core.api.Assertions.assertThat;

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
                .changed("a", "PROCESSING", "PENDING", null)
                .changed("a", "PENDING", "PROCESSING", "2")
                .changed("a", "PROCESSING", "PROCESSING", "3", story.now())
                .changed("a", "PROCESSING", "DEAD", null)
                .did("replay", "a")
                .changed("a", "DEAD", "PENDING", null)
                .changed("a", "PENDING", "PROCESSING", "4")
                .taken("w", "a")
                .changed("a", "PROCESSING", null, "4")
                .archived("a");
        holds(9);
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
                .takenInOrder("w", "a1")
                .changed("a1", "RETRY", null, null)
                .archived("a1")
                .changed("a2", "BLOCKED", "RETRY", null)
                .takenInOrder("w", "a2")
                .changed("a2", "RETRY", null, null)
                .archived("a2");
        holds(9);
    }

    @Test
    void whatWasSeenAndWhatNeverIsCounted() {
        story.written("a").changed("a", null, "PENDING", null).commandChanged("c", null, "IN_PROGRESS", "o", 1);
        assertThat(story.judge(new LegalTransitions()).text())
                .startsWith("2 changes of state were legal: 1 command, 1 leased; 2 of the model's ")
                .contains("never leased DEAD to GONE, leased DEAD to PENDING,")
                .doesNotContain("leased NONE to PENDING");
    }

    @Test
    void deliveredMessageThatComesBackIsNot() {
        story.written("a")
                .changed("a", null, "PROCESSING", "1")
                .taken("w", "a")
                .changed("a", "PROCESSING", null, "1")
                .archived("a")
                .changed("a", "PROCESSING", "PENDING", null);
        isViolated(1, Story.id("a") + " went, leased, from PROCESSING to PENDING, and was DELIVERED before");
    }

    @Test
    void messageThatLeavesWithoutATraceIsNot() {
        story.written("a").changed("a", null, "PROCESSING", "1").taken("w", "a").changed("a", "PROCESSING", null, "1");
        isViolated(1, "from PROCESSING to GONE, which the model does not allow");
    }

    @Test
    void messageThatLeavesBeforeItIsTakenIsNot() {
        story.written("a")
                .changed("a", null, "PROCESSING", "1")
                .changed("a", "PROCESSING", null, "1")
                .archived("a")
                .taken("w", "a");
        isViolated(1, "from PROCESSING to DELIVERED before anybody had taken it");
    }

    @Test
    void refusedMessageThatLeavesIsNot() {
        story.written("a")
                .changed("a", null, "PROCESSING", "1")
                .received("w", "a", 1)
                .answered("w", "a", "refused")
                .changed("a", "PROCESSING", null, "1")
                .archived("a");
        isViolated(1, "before anybody had taken it");
    }

    @Test
    void copyInADurableInboxIsSentNowhere() {
        story.written("a")
                .changed("copy", null, "PENDING", null)
                .changed("copy", "PENDING", "PROCESSING", "1")
                .changed("copy", "PROCESSING", null, "1")
                .archived("copy");
        holds(3);
    }

    @Test
    void claimWithTheOldTokenIsNot() {
        story.written("a")
                .changed("a", null, "PROCESSING", "1")
                .changed("a", "PROCESSING", "PENDING", null)
                .changed("a", "PENDING", "PROCESSING", "1");
        isViolated(1, "from PENDING to PROCESSING without a token of its own");
    }

    @Test
    void claimBeforeTheLeaseIsOverIsNot() {
        story.written("a")
                .changed("a", null, "PROCESSING", "1")
                .changed("a", "PROCESSING", "PROCESSING", "2", story.now() + 7);
        isViolated(1, "from PROCESSING to PROCESSING while its lease had 7 us left");
    }

    @Test
    void deadLetterThatIsClaimedIsNot() {
        story.written("a").changed("a", null, "DEAD", null).changed("a", "DEAD", "PROCESSING", "1");
        isViolated(1, "from DEAD to PROCESSING, which the model does not allow");
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
    void oldDeadLetterMayGoAndANewOneMayNot() {
        story.properties("deadRetentionMillis=10000");
        story.written("a", "b").changed("a", null, "DEAD", null).pass(10 * Story.SECOND);
        story.changed("a", "DEAD", null, null).changed("b", null, "DEAD", null);
        holds(3);
        story.pass(8 * Story.SECOND).changed("b", "DEAD", null, null);
        isViolated(1, Story.id("b") + " went, leased, from DEAD to GONE without an operator");
    }

    @Test
    void purgeOfWhatWasReplayedIsNot() {
        story.properties("deadRetentionMillis=10000");
        story.written("a")
                .changed("a", null, "DEAD", null)
                .pass(10 * Story.SECOND)
                .did("replay", "a");
        story.changed("a", "DEAD", "PENDING", null).changed("a", "PENDING", null, null);
        isViolated(1, "from PENDING to GONE, which the model does not allow");
    }

    @Test
    void deadLetterIsReplayedBehindAMessageOfItsKeyThatWaits() {
        story.inOrder("k", "a1", "a2")
                .changed("a1", null, "PENDING", null)
                .changed("a2", null, "PENDING", null)
                .changed("a2", "PENDING", "DEAD", null)
                .changed("a1", "PENDING", "RETRY", null)
                .did("replay", "a2")
                .changed("a2", "DEAD", "BLOCKED", null);
        holds(5);
    }

    @Test
    void deadLetterThatIsBlockedByItselfIsNot() {
        story.inOrder("k", "a1")
                .changed("a1", null, "PENDING", null)
                .changed("a1", "PENDING", "DEAD", null)
                .changed("a1", "DEAD", "BLOCKED", null);
        isViolated(1, "from DEAD to BLOCKED without an operator");
    }

    @Test
    void blockedKeyThatContinuesByItselfIsNot() {
        story.inOrder("k", "a1")
                .changed("a1", null, "PENDING", null)
                .changed("a1", "PENDING", "PARKED", null)
                .changed("a1", "PARKED", "RETRY", null);
        isViolated(1, "from PARKED to RETRY without an operator");
    }

    @Test
    void unorderedMessageThatVanishesUnclaimedIsNot() {
        story.written("a").changed("a", null, "PENDING", null).changed("a", "PENDING", null, null);
        isViolated(1, "from PENDING to GONE");
    }

    @Test
    void unorderedMessageInAStateOfLanesIsNot() {
        story.written("a").changed("a", null, "PENDING", null).changed("a", "PENDING", "RETRY", null);
        isViolated(1, "went, leased, from PENDING to RETRY, which the model does not allow");
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
