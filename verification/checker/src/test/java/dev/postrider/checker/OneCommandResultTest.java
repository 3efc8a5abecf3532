package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class OneCommandResultTest extends InvariantTest {

    OneCommandResultTest() {
        super(new OneCommandResult());
    }

    /** The first call of a command, which took effect and was told so. */
    private Story paid(String mode) {
        return story.asked("1", "k", mode, "f").commandEffect("k", "1").told("1", "completed", "paid");
    }

    @Test
    void everyCallerGetsTheSameResult() {
        paid("fenced")
                .asked("2", "k", "fenced", "f")
                .told("2", "completed", "paid")
                .asked("3", "k", "fenced", "f")
                .told("3", "conflict", "")
                .asked("4", "k", "fenced", "other")
                .told("4", "mismatch", "")
                .asked("5", "k", "fenced", "f");
        holds(1);
    }

    @Test
    void otherResultIsNoticed() {
        paid("join").asked("2", "k", "join", "f").told("2", "completed", "paid again");
        isViolated(1, "command t/c/pay/k had the results");
    }

    @Test
    void rejectedAndCompletedIsNoticed() {
        story.asked("1", "k", "leased", "f")
                .commandEffect("k", "1")
                .told("1", "completed", "x")
                .asked("2", "k", "leased", "f")
                .told("2", "rejected", "x");
        isViolated(1, "had the results");
    }

    @Test
    void secondEffectIsNoticed() {
        story.asked("1", "k", "fenced", "f")
                .commandEffect("k", "1")
                .asked("2", "k", "fenced", "f")
                .commandEffect("k", "2")
                .told("2", "completed", "paid");
        isViolated(1, "took effect 2 times");
    }

    @Test
    void secondEffectUnderALeaseIsThatOfALostOwner() {
        story.asked("1", "k", "leased", "f")
                .commandEffect("k", "1")
                .asked("2", "k", "leased", "f")
                .commandEffect("k", "2")
                .told("2", "completed", "paid");
        holds(1);
        story.told("1", "completed", "paid");
        isViolated(1, "took effect 2 times");
    }

    @Test
    void completedWithoutAnEffectIsNoticed() {
        story.asked("1", "k", "join", "f").told("1", "completed", "paid");
        isViolated(1, "is completed without an effect");
    }

    @Test
    void rejectedWithAnEffectIsNoticed() {
        story.asked("1", "k", "join", "f").told("1", "rejected", "no").commandEffect("k", "1");
        isViolated(1, "is rejected, and took effect");
    }

    @Test
    void effectWithoutARequestIsNoticed() {
        story.asked("1", "k", "join", "f").told("1", "rejected", "no").commandEffect("l", "1");
        isViolated(1, "command t/c/pay/l took effect, and had no call");
    }

    @Test
    void mismatchWithoutAnotherRequestIsNoticed() {
        story.asked("1", "k", "join", "f").told("1", "mismatch", "");
        isViolated(1, "was refused as another request, and there was none");
    }

    @Test
    void answerToAnotherRequestIsNoticed() {
        paid("join").asked("2", "k", "join", "other").told("2", "completed", "paid");
        isViolated(1, "answered to different requests");
    }

    @Test
    void leaseWithoutRenewalMustEnd() {
        story.asked("1", "k", "join", "f")
                .told("1", "failed", "")
                .sql(
                        "INSERT INTO postrider_command VALUES ('pay', 't', 'IN_PROGRESS', DATEADD(SECOND, -1, CURRENT_TIMESTAMP))");
        holds(1);
        story.sql(
                "INSERT INTO postrider_command VALUES ('pay', 't', 'IN_PROGRESS', DATEADD(HOUR, 1, CURRENT_TIMESTAMP))");
        isViolated(1, "a command pay of tenant 't' is in progress for another");
    }
}
