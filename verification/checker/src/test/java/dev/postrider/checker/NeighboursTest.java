package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class NeighboursTest extends InvariantTest {

    NeighboursTest() {
        super(new Neighbours());
    }

    private void troubled() {
        story.properties("troubled=ordered");
    }

    @Test
    void runWithoutTroubledTopicsSaysNothing() {
        story.written("a").received("w", "a", "plain", "", "", 1);
        isNotChecked("no topic misbehaved");
    }

    @Test
    void messageOfAnotherTopicWaitsLessThanALease() {
        troubled();
        story.written("a").pass(4 * Story.SECOND).received("w", "a", "plain", "", "", 1);
        holds(1);
    }

    @Test
    void messageOfAnotherTopicThatWaitsLongerIsDisturbed() {
        troubled();
        story.written("a").pass(6 * Story.SECOND).received("w", "a", "plain", "", "", 1);
        isViolated(1, "waited 6001 ms");
    }

    @Test
    void messageOfATroubledTopicMayWait() {
        troubled();
        story.inOrder("k", "b").pass(60 * Story.SECOND).received("w", "b", "ordered", "k", "1", 1);
        story.written("a").received("w", "a", "plain", "", "", 1);
        holds(1);
    }

    @Test
    void faultExplainsAWait() {
        troubled();
        story.fault("kill-worker", "w", story.now(), story.now());
        story.written("a").pass(6 * Story.SECOND).received("w", "a", "plain", "", "", 1);
        story.pass(60 * Story.SECOND).written("c").received("w", "c", "plain", "", "", 1);
        holds(1);
    }

    @Test
    void leaseThatIsLostWhileNothingElseIsBrokenIsDisturbed() {
        troubled();
        story.started("w").pass(60 * Story.SECOND).written("a").received("w", "a", "plain", "", "", 1);
        story.line("worker-w", "lost", "id=" + Story.id("a"));
        isViolated(1, "lost its lease while nothing else was broken");
    }

    @Test
    void laneThatChangesHandsAmongTheSameWorkersWasLost() {
        story.properties("troubled=plain");
        story.started("w").line("note-w", "taken", "topic=ordered", "count=1", "held=0");
        story.inOrder("k", "b").received("w", "b", "ordered", "k", "1", 1);
        holds(1);
        story.pass(60 * Story.SECOND).line("note-w", "taken", "topic=ordered", "count=1", "held=0");
        isViolated(1, "lanes of ordered changed hands");
    }

    @Test
    void laneBeyondTheShareIsGivenBackSomeLeasesAfterAWorkerCame() {
        story.properties("troubled=plain");
        story.started("w").pass(30 * Story.SECOND).line("note-w", "released", "topic=ordered", "count=1", "held=4");
        story.inOrder("k", "b").received("w", "b", "ordered", "k", "1", 1);
        holds(1);
    }
}
