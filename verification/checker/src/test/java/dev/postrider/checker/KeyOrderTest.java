package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class KeyOrderTest extends InvariantTest {

    KeyOrderTest() {
        super(new KeyOrder());
    }

    @Test
    void oneAfterAnotherIsInOrder() {
        story.inOrder("k", "a1", "a2", "a3").takenInOrder("w", "a1", "a2", "a3");
        holds(3);
    }

    @Test
    void differentKeysDoNotMatterToEachOther() {
        story.inOrder("k", "a1")
                .inOrder("l", "b1")
                .received("w", "b1", "ordered", "l", "1", 1)
                .takenInOrder("w", "a1");
        holds(2);
    }

    @Test
    void secondBeforeFirstIsNot() {
        story.inOrder("k", "a1", "a2").takenInOrder("w", "a2", "a1");
        isViolated(1, Story.id("a2") + " (number 2 of ordered/t/k) came before " + Story.id("a1"));
    }

    @Test
    void sameOrderAgainAfterACrashIsInOrder() {
        story.inOrder("k", "a1", "a2", "a3").takenInOrder("w", "a1", "a2", "a1", "a2", "a3");
        holds(3);
    }

    @Test
    void nextOneBeforeTheRetryOfTheOneAheadIsNot() {
        story.inOrder("k", "a1", "a2").comes("w", "a1", "refused").takenInOrder("w", "a2", "a1");
        isViolated(1, "came before");
    }

    @Test
    void nextOneMayComeBeforeTheRetryWhereTheTopicSaysSo() {
        story.properties("policy.ordered=CONTINUE")
                .inOrder("k", "a1", "a2")
                .comes("w", "a1", "refused")
                .takenInOrder("w", "a2", "a1");
        holds(2);
    }

    @Test
    void nextOneMayComeAfterTheOneAheadWasRejectedWhereKeysGoOn() {
        story.properties("policy.ordered=GO_ON")
                .inOrder("k", "a1", "a2")
                .comes("w", "a1", "poison")
                .takenInOrder("w", "a2", "a1");
        holds(2);
    }

    @Test
    void nextOneWaitsForARetryAlsoWhereKeysGoOn() {
        story.properties("policy.ordered=GO_ON")
                .inOrder("k", "a1", "a2")
                .comes("w", "a1", "refused")
                .takenInOrder("w", "a2", "a1");
        isViolated(1, "came before");
    }

    @Test
    void nextOneWaitsForAnOperatorAfterTheOneAheadWasRejectedWhereKeysDoNot() {
        story.inOrder("k", "a1", "a2").comes("w", "a1", "poison").takenInOrder("w", "a2", "a1");
        isViolated(1, "came before");
    }

    @Test
    void nextMessageMayComeAfterAnOperatorBuriedTheOneAhead() {
        story.inOrder("k", "a1", "a2")
                .comes("w", "a1", "poison")
                .did("skip", "a1")
                .takenInOrder("w", "a2")
                .did("replay", "a1")
                .takenInOrder("w", "a1");
        holds(2);
    }

    @Test
    void messageThatWasBuriedBeforeItCameAtAllIsNotWaitedFor() {
        story.inOrder("k", "a1", "a2")
                .did("skip", "a1")
                .takenInOrder("w", "a2")
                .did("replay", "a1")
                .takenInOrder("w", "a1");
        holds(2);
    }

    @Test
    void messageThatWasBuriedOnlyAfterItWasOvertakenIsWaitedFor() {
        story.inOrder("k", "a1", "a2").takenInOrder("w", "a2", "a1").did("skip", "a1");
        isViolated(1, "came before");
    }

    @Test
    void deadOneIsNotWaitedFor() {
        story.inOrder("k", "a1", "a2")
                .row("a1", "ordered", "k", "DEAD", 1, "WORKER_LOST")
                .takenInOrder("w", "a2");
        holds(2);
    }

    @Test
    void oneThatIsStillWaitingWasOvertaken() {
        story.inOrder("k", "a1", "a2")
                .row("a1", "ordered", "k", "RETRY", 1, null)
                .takenInOrder("w", "a2");
        isViolated(1, Story.id("a1") + " (number 1 of ordered/t/k) before it did not");
    }

    @Test
    void overtakenByAnyLaterOneIsNoticed() {
        story.inOrder("k", "a1", "a2", "a3").takenInOrder("w", "a1", "a3", "a2");
        isViolated(1, Story.id("a3").toString());
    }

    @Test
    void rolledBackNumbersAndScheduledMessagesAreOutsideTheOrder() {
        story.intended("a1", "a1", "ordered", "k", 1, "", 0, true)
                .line("producer-1", "rolledback", "tx=" + Story.id("a1"))
                .intended("a2", "a2", "ordered", "k", 2, "", Story.BEGINNING, true)
                .committed("a2")
                .intended("a3", "a3", "ordered", "k", 3, "", 0, true)
                .committed("a3")
                .takenInOrder("w", "a3", "a2");
        holds(1);
    }

    @Test
    void twoCommittedMessagesWithOneNumberAreEvidenceGoneWrong() {
        story.inOrder("k", "a1").inOrder("k", "b1").takenInOrder("w", "a1", "b1");
        isViolated(1, "has a number that its key has had");
    }
}
