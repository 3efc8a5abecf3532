package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class AttemptBoundsTest extends InvariantTest {

    AttemptBoundsTest() {
        super(new AttemptBounds());
    }

    private Story refused(String name, int times) {
        story.written(name).started("w");
        for (int attempt = 1; attempt <= times; attempt++) {
            story.sending("w", name, "t" + attempt).received("w", name, attempt).answered("w", name, "refused");
        }
        return story;
    }

    @Test
    void messageMayUseItsAttempts() {
        refused("a", 3)
                .buried("w", "a", "ATTEMPTS_EXHAUSTED", 3)
                .row("a", "plain", "", "DEAD", 3, "ATTEMPTS_EXHAUSTED");
        holds(1);
    }

    @Test
    void oneMoreIsTooMany() {
        refused("a", 4);
        isViolated(2, Story.id("a") + " was delivered 4 times");
    }

    @Test
    void replayGivesThemBack() {
        refused("a", 3).did("replay", "a").received("w", "a", 1);
        holds(1);
    }

    @Test
    void givenUpTooEarlyIsNoticed() {
        refused("a", 2).buried("w", "a", "ATTEMPTS_EXHAUSTED", 2);
        isViolated(1, "was given up after 2 attempts");
    }

    @Test
    void deadLetterThatWasNeverSentIsNoticed() {
        story.written("a", "b")
                .row("a", "plain", "", "DEAD", 3, "ATTEMPTS_EXHAUSTED")
                .taken("w", "b");
        isViolated(1, "was given up (ATTEMPTS_EXHAUSTED) without having been sent");
    }

    @Test
    void parkedMessageHasItsAttemptsInItsRow() {
        refused("a", 3).line("worker-w", "parked", "id=" + Story.id("a"), "reason=ATTEMPTS_EXHAUSTED");
        story.row("a", "plain", "", "PARKED", 3, "ATTEMPTS_EXHAUSTED");
        holds(1);
        story.sql("UPDATE postrider_message SET attempts = 2");
        isViolated(1, "was given up after 2 attempts");
    }

    @Test
    void onlyAnOperatorBuries() {
        story.written("a", "b").taken("w", "b").row("a", "ordered", "k", "DEAD", 0, "BURIED");
        isViolated(1, "has the reason BURIED, and no operator buried it");
        story.did("skip", "a");
        holds(1);
    }

    @Test
    void rejectionWithoutACauseIsNoticed() {
        story.written("a").started("w").sending("w", "a", "1").taken("w", "a").buried("w", "a", "REJECTED", 1);
        isViolated(1, "the receiver did not reject it");
    }

    @Test
    void rejectedMessageIsGivenUpAtOnce() {
        story.written("a")
                .started("w")
                .sending("w", "a", "1")
                .received("w", "a", 1)
                .answered("w", "a", "poison")
                .buried("w", "a", "REJECTED", 1);
        holds(1);
    }

    @Test
    void workersAreLostOnlyWhereSomeWere() {
        story.written("a", "b").taken("w", "b").row("a", "plain", "", "DEAD", 3, "WORKER_LOST");
        isViolated(1, "is said to have lost its workers, and none was lost");
        story.fault("kill-worker", "w", story.now(), story.now());
        holds(1);
    }
}
