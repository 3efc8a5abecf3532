package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class FairnessTest extends InvariantTest {

    FairnessTest() {
        super(new Fairness());
    }

    private void keys(int count) {
        for (int key = 0; key < count; key++) {
            story.inOrder("k" + key, "a" + key);
            story.received("w", "a" + key, "ordered", "k" + key, "1", 1);
        }
    }

    private void late(long wait) {
        story.inOrder("late", "b1").pass(wait).received("w", "b1", "ordered", "late", "1", 1);
    }

    @Test
    void keysThatWaitAlikeAreTreatedFairly() {
        keys(30);
        late(4 * Story.SECOND);
        holds(31);
    }

    @Test
    void keyThatWaitsMuchLongerIsNot() {
        keys(30);
        late(6 * Story.SECOND);
        isViolated(1, "key ordered/t/late waits 6001 ms, and the one in the middle 1 ms");
    }

    @Test
    void waitForTheOneAheadDoesNotCount() {
        keys(30);
        story.inOrder("k", "b1", "b2").received("w", "b1", "ordered", "k", "1", 1);
        story.pass(6 * Story.SECOND).received("w", "b1", "ordered", "k", "1", 2);
        story.received("w", "b2", "ordered", "k", "2", 1);
        holds(31);
    }

    @Test
    void timesInWhichSomethingWasBrokenDoNotCount() {
        keys(30);
        late(6 * Story.SECOND);
        story.fault("kill-worker", "w", story.now() - Story.SECOND, story.now() - Story.SECOND);
        holds(30);
    }

    @Test
    void whatWasWrittenBeforeSomethingBrokeMayWaitAfterwards() {
        keys(30);
        story.inOrder("k", "d1", "d2");
        story.fault("kill-worker", "w", story.now(), story.now());
        story.pass(20 * Story.SECOND).received("w", "d1", "ordered", "k", "1", 1);
        story.pass(6 * Story.SECOND).received("w", "d2", "ordered", "k", "2", 1);
        story.pass(20 * Story.SECOND);
        for (int key = 0; key < 30; key++) {
            story.inOrder("l" + key, "c" + key).received("w", "c" + key, "ordered", "l" + key, "1", 1);
        }
        holds(60);
        late(6 * Story.SECOND);
        isViolated(1, "key ordered/t/late");
    }

    @Test
    void laneThatChangesHandsMayMakeItsKeysWait() {
        keys(30);
        late(6 * Story.SECOND);
        long end = story.now();
        story.pass(-3 * Story.SECOND).line("note-1", "released", "topic=other", "count=1", "held=3");
        isViolated(1, "key ordered/t/late");
        story.line("note-1", "released", "topic=ordered", "count=1", "held=3").pass(end - story.now());
        holds(30);
    }

    @Test
    void suspectMakesOtherKeysOfItsTopicOnItsWorkerWait() {
        keys(30);
        late(6 * Story.SECOND);
        long end = story.now();
        story.written("plain").pass(-3 * Story.SECOND);
        suspect("other", "b1", 2);
        suspect("w", "plain", 2);
        isViolated(1, "key ordered/t/late");
        suspect("w", "b1", 2);
        story.pass(end - story.now());
        holds(30);
    }

    @Test
    void isolatedDeliveryMakesAllKeysWaitUntilItHasItsOutcome() {
        keys(30);
        story.pass(20 * Story.SECOND);
        late(6 * Story.SECOND);
        long end = story.now();
        story.written("plain").pass(-7 * Story.SECOND);
        suspect("w", "plain", 3);
        isViolated(1, "key ordered/t/late");
        story.pass(3 * Story.SECOND).line("worker-w", "acknowledged", "id=" + Story.id("plain"));
        story.pass(end - story.now());
        holds(30);
    }

    private void suspect(String worker, String message, int crashes) {
        story.line("note-" + worker, "alone", "worker=" + worker, "id=" + Story.id(message), "crashes=" + crashes);
    }

    @Test
    void keyThatWaitsForAnOperatorDoesNotCount() {
        keys(30);
        story.inOrder("k", "b1", "b2")
                .received("w", "b1", "ordered", "k", "1", 1)
                .started("w");
        story.pass(12 * Story.SECOND).received("w", "b2", "ordered", "k", "2", 1);
        isViolated(1, "key ordered/t/k waits");
        story.line("worker-w", "parked", "id=" + Story.id("b1"), "reason=REJECTED");
        holds(30);
    }

    @Test
    void keyThatWasReleasedDoesNotCount() {
        keys(30);
        story.inOrder("k", "b1", "b2").received("w", "b1", "ordered", "k", "1", 1);
        story.pass(12 * Story.SECOND).did("release", "b1").received("w", "b2", "ordered", "k", "2", 1);
        holds(30);
    }

    @Test
    void fewKeysSayNothing() {
        keys(3);
        isNotChecked("only 3 keys");
    }
}
