package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class NothingStuckTest extends InvariantTest {

    NothingStuckTest() {
        super(new NothingStuck());
    }

    @Test
    void deadAndParkedMessagesAndThoseBehindThemMayBeLeft() {
        story.written("a", "b")
                .row("a", "plain", "", "DEAD", 3, "REJECTED")
                .row("x", "ordered", "k", "PARKED", 3, "REJECTED")
                .row("y", "ordered", "k", "BLOCKED", 0, null)
                .taken("w", "b");
        holds(2);
    }

    @Test
    void pendingMessageIsStuck() {
        story.written("a").row("a", "plain", "", "PENDING", 0, null);
        isViolated(1, Story.id("a") + " of plain is still PENDING");
    }

    @Test
    void leasedMessageIsStuck() {
        story.written("a").row("a", "plain", "", "PROCESSING", 1, null);
        isViolated(1, "is still PROCESSING");
    }

    @Test
    void blockedMessageWithoutAHeadIsStuck() {
        story.written("a")
                .row("x", "ordered", "other", "PARKED", 3, "REJECTED")
                .row("a", "ordered", "k", "BLOCKED", 0, null);
        isViolated(1, "is still BLOCKED");
    }

    @Test
    void blockedMessageBeforeTheParkedOneIsStuck() {
        story.written("a")
                .row("a", "ordered", "k", "BLOCKED", 0, null)
                .row("x", "ordered", "k", "PARKED", 3, "REJECTED");
        isViolated(1, Story.id("a") + " of ordered is still BLOCKED");
    }

    @Test
    void messageWhoseTimeHasNotComeIsNot() {
        story.written("a")
                .row("a", "plain", "", "PENDING", 0, null)
                .sql("UPDATE postrider_message SET attributes = '{\"deliverAt\":\"2099-01-01T00:00:00Z\"}'");
        holds(1);
        story.sql("UPDATE postrider_message SET attributes = '{\"deliverAt\":\"2001-01-01T00:00:00Z\"}'");
        isViolated(1, "PENDING");
    }

    @Test
    void workerThatStoppedOwnsNoLane() {
        story.written("a").started("w").sql("INSERT INTO postrider_lane VALUES ('w'), (NULL)");
        holds(1);
        story.line("worker-w", "stopping").line("worker-w", "stopped");
        isViolated(1, "w has stopped, and still owns a lane");
    }
}
