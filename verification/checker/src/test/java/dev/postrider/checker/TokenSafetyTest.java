package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class TokenSafetyTest extends InvariantTest {

    TokenSafetyTest() {
        super(new TokenSafety());
    }

    /** First by {@code v} under one lease, then by {@code w} under the next. */
    private Story sentByBoth() {
        return story.written("a")
                .started("v")
                .started("w")
                .sending("v", "a", "1")
                .sending("w", "a", "2");
    }

    @Test
    void ownerOfTheLastLeaseMayAcknowledge() {
        sentByBoth()
                .acknowledged("w", "a")
                .changed("a", "PROCESSING", null, "2")
                .archived("a");
        holds(1);
    }

    @Test
    void ownerOfAnEarlierLeaseMayNot() {
        sentByBoth()
                .acknowledged("v", "a")
                .changed("a", "PROCESSING", null, "2")
                .archived("a");
        isViolated(1, Story.id("a") + " was, by worker-v, acknowledged under a lease that was not the last");
    }

    @Test
    void messageIsNotAcknowledgedTwice() {
        sentByBoth().acknowledged("v", "a").acknowledged("w", "a");
        isViolated(1, "acknowledged when it had been acknowledged");
    }

    @Test
    void replayedMessageIsAcknowledgedAgain() {
        story.written("a")
                .started("v")
                .sending("v", "a", "1")
                .acknowledged("v", "a")
                .did("replay", "a")
                .sending("v", "a", "2")
                .acknowledged("v", "a");
        holds(2);
    }

    @Test
    void lostAnswerMayHideWhoAcknowledged() {
        story.written("a").started("v").started("w").sending("v", "a", "1");
        story.fault("cut", "", story.now(), story.now())
                .sending("w", "a", "2")
                .acknowledged("w", "a")
                .acknowledged("v", "a");
        holds(2);
    }

    @Test
    void whatWasNotSentIsNotAcknowledged() {
        story.written("a").started("v").acknowledged("v", "a");
        isViolated(1, "acknowledged without having sent it");
    }

    @Test
    void handlersOfADurableInboxSendNothing() {
        story.written("a")
                .started("v")
                .acknowledged("v", "copy")
                .sending("v", "a", "1")
                .acknowledged("v", "a");
        holds(1);
    }

    @Test
    void leaseIsNotLostWhileNothingHappens() {
        story.written("a").started("v").sending("v", "a", "1").lost("v", "a");
        isViolated(1, "lost while nothing was broken");
        story.fault("pause-worker", "v", story.now() - 1, story.now()).acknowledged("v", "a");
        holds(1);
    }
}
