package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class BoundedDuplicatesTest extends InvariantTest {

    private static final String UNEXPLAINED = "no fault that has room for it explains that";

    BoundedDuplicatesTest() {
        super(new BoundedDuplicates());
    }

    @Test
    void runWithoutFaultsHasNone() {
        story.written("a", "b").taken("w", "a", "b");
        holds(2);
    }

    @Test
    void duplicateWithoutAFaultIsOneTooMany() {
        story.written("a").taken("v", "a").taken("w", "a");
        isViolated(1, Story.id("a") + " came from v and 2 ms later from w, and " + UNEXPLAINED);
    }

    @Test
    void retryOfWhatWasRefusedIsNone() {
        story.written("a").received("w", "a", 1).answered("w", "a", "refused").taken("w", "a");
        holds(2);
    }

    @Test
    void retryAfterALostAnswerIsNone() {
        story.written("a", "b")
                .received("w", "a", 1)
                .answered("w", "a", "dropped")
                .taken("w", "a")
                .received("w", "b", 1)
                .answered("w", "b", "slow")
                .taken("w", "b");
        holds(4);
    }

    @Test
    void retryAfterAnAnswerThatDidNotLeaveIsNone() {
        story.written("a")
                .taken("w", "a")
                .line("receiver", "unheard", "id=" + Story.id("a"), "worker=w")
                .taken("w", "a");
        holds(2);
        story.taken("w", "a");
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void retryAfterAnAnswerThatItsCourierDidNotWaitForIsNone() {
        story.written("a").started("w");
        taken("w", 1);
        unheard("w", 1);
        taken("w", 2);
        holds(2);
        taken("w", 3);
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void courierThatGivesUpAfterItsMessageCameAgainExcusesNothing() {
        story.written("a").started("w");
        taken("w", 1);
        taken("v", 2);
        unheard("w", 1);
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void whatACourierDidNotHearOfOneAttemptExcusesNoOther() {
        story.written("a").started("w");
        taken("w", 1);
        unheard("w", 2);
        unheard("v", 1);
        taken("w", 3);
        isViolated(1, UNEXPLAINED);
    }

    private void taken(String worker, int attempt) {
        story.received(worker, "a", attempt).answered(worker, "a", "ok");
    }

    private void unheard(String worker, int attempt) {
        story.line("worker-w", "unheard", "id=" + Story.id("a"), "worker=" + worker, "attempt=" + attempt);
    }

    @Test
    void lostAnswerExcusesOneRetryOnly() {
        story.written("a")
                .received("w", "a", 1)
                .answered("w", "a", "dropped")
                .taken("w", "a")
                .taken("w", "a");
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void killExplainsTheMessagesThatTheWorkerHadInFlight() {
        story.written("a", "b").started("v").started("w").taken("v", "a", "b");
        long killed = story.now();
        story.fault("kill-worker", "v", killed, killed).taken("w", "a", "b");
        holds(4);
    }

    @Test
    void killExplainsNoMoreThanThat() {
        story.written("a", "b", "c").started("v").started("w").taken("v", "a", "b", "c");
        long killed = story.now();
        story.fault("kill-worker", "v", killed, killed).taken("w", "a", "b", "c");
        isViolated(1, Story.id("c").toString());
    }

    @Test
    void killOfAnotherWorkerExplainsNothing() {
        story.written("a").started("u").started("v").started("w").taken("v", "a");
        story.fault("kill-worker", "u", story.now(), story.now()).taken("w", "a");
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void killExplainsNothingThatWasAcknowledgedBefore() {
        story.written("a").started("v").started("w").taken("v", "a").acknowledged("v", "a");
        story.fault("kill-worker", "v", story.now() + 1, story.now() + 1).taken("w", "a");
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void killLongBeforeExplainsNothing() {
        story.started("v").fault("kill-worker", "v", story.now(), story.now()).pass(6 * Story.SECOND);
        story.written("a").taken("v", "a").taken("v", "a");
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void killAfterTheDuplicateExplainsNothing() {
        story.started("v").written("a").taken("v", "a").taken("v", "a");
        story.fault("kill-worker", "v", story.now() + 1, story.now() + 1);
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void pausedWorkerThatComesBackExplainsWhatItSendsLate() {
        story.started("v").started("w").written("a").taken("w", "a");
        story.fault("pause-worker", "v", story.now() - Story.SECOND, story.now())
                .taken("v", "a");
        holds(2);
    }

    @Test
    void crashOfTheDatabaseExplainsWhatAllHadInTheirHands() {
        String[] names = {"a", "b", "c", "d", "e"};
        story.written(names).taken("v", "a", "b", "c", "d", "e");
        story.fault("crash-database", "", story.now(), story.now()).taken("w", "a", "b", "c", "d");
        holds(9);
        story.taken("w", "e");
        isViolated(1, Story.id("e").toString());
    }

    @Test
    void cutConnectionExplainsNothing() {
        story.written("a").taken("v", "a");
        story.fault("cut", "", story.now(), story.now())
                .fault("terminate-session", "", story.now(), story.now())
                .fault("swallow-commit", "", story.now(), story.now())
                .fault("restart-gracefully", "v", story.now(), story.now())
                .taken("v", "a");
        isViolated(1, UNEXPLAINED);
    }

    @Test
    void delayExplainsSomethingIfALeaseCanRunOutMeanwhile() {
        story.written("a").taken("v", "a");
        story.fault("delay", "", story.now() - Story.SECOND, story.now()).taken("v", "a");
        isViolated(1, UNEXPLAINED);
        story.fault("delay", "", story.now() - 3 * Story.SECOND, story.now());
        holds(2);
    }

    @Test
    void replayedMessageComesAgain() {
        story.written("a").taken("v", "a").did("replay", "a").taken("v", "a");
        holds(2);
    }
}
