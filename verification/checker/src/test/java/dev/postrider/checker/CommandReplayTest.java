package dev.postrider.checker;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The part of I7 that is about commands. */
final class CommandReplayTest extends InvariantTest {

    CommandReplayTest() {
        super(new LegalTransitions());
    }

    @BeforeEach
    void claim() {
        story.commandChanged("c", null, "IN_PROGRESS", "ada", 1);
    }

    private void isTakenOver(long leaseEnd, boolean uncertain) {
        story.commandChanged("c", "IN_PROGRESS", "IN_PROGRESS", "bob", 2, leaseEnd, 0, uncertain);
    }

    @Test
    void lifeOfACommandIsLegal() {
        isTakenOver(story.now(), false);
        story.commandChanged("c", "IN_PROGRESS", "FAILED", "bob", 2)
                .commandChanged("c", "FAILED", "IN_PROGRESS", "carol", 3)
                .commandChanged("c", "IN_PROGRESS", "UNCERTAIN", "carol", 3)
                .commandChanged("c", "UNCERTAIN", "COMPLETED", "carol", 3)
                .commandChanged("c", "COMPLETED", "IN_PROGRESS", "dan", 4, 0, story.now(), false)
                .commandChanged("c", "IN_PROGRESS", "COMPLETED", "dan", 4)
                .commandChanged("c", "COMPLETED", null, "dan", 4, 0, story.now(), false)
                .commandChanged("c", null, "IN_PROGRESS", "eve", 1);
        holds(10);
    }

    @Test
    void takeOverBeforeTheLeaseIsOverIsNot() {
        isTakenOver(story.now() + 5, false);
        isViolated(1, "command c went from IN_PROGRESS to IN_PROGRESS while its lease had 5 us left");
    }

    @Test
    void takeOverAfterTheEffectBeganIsNot() {
        isTakenOver(story.now(), true);
        isViolated(1, "though its effect had begun");
    }

    @Test
    void takeOverWithoutANewFenceIsNot() {
        story.commandChanged("c", "IN_PROGRESS", "IN_PROGRESS", "bob", 1);
        isViolated(1, "with the fence 1 instead of 2");
    }

    @Test
    void takeOverWithTheSameOwnerIsNot() {
        story.commandChanged("c", "IN_PROGRESS", "IN_PROGRESS", "ada", 2);
        isViolated(1, "with the owner that it had");
    }

    @Test
    void endByAnotherThanTheOwnerIsNot() {
        story.commandChanged("c", "IN_PROGRESS", "COMPLETED", "bob", 2);
        isViolated(1, "from IN_PROGRESS to COMPLETED by another than its owner");
    }

    @Test
    void endByAnOperatorIs() {
        story.line("operator", "did", "action=resolve", "id=", "topic=")
                .commandChanged("c", "IN_PROGRESS", "COMPLETED", "none", 2);
        holds(2);
    }

    @Test
    void completedCommandThatRunsAgainIsNot() {
        story.commandChanged("c", "IN_PROGRESS", "COMPLETED", "ada", 1)
                .commandChanged("c", "COMPLETED", "IN_PROGRESS", "bob", 2, 0, story.now() + 1, false);
        isViolated(1, "from COMPLETED to IN_PROGRESS before the time of its key was over");
    }

    @Test
    void completedCommandThatFailsIsNot() {
        story.commandChanged("c", "IN_PROGRESS", "COMPLETED", "ada", 1)
                .commandChanged("c", "COMPLETED", "FAILED", "ada", 1);
        isViolated(1, "from COMPLETED to FAILED, which the model does not allow");
    }

    @Test
    void uncertainCommandThatIsClaimedIsNot() {
        story.commandChanged("c", "IN_PROGRESS", "UNCERTAIN", "ada", 1)
                .commandChanged("c", "UNCERTAIN", "IN_PROGRESS", "bob", 2);
        isViolated(1, "from UNCERTAIN to IN_PROGRESS, which the model does not allow");
    }

    @Test
    void uncertainCommandThatVanishesIsNot() {
        story.commandChanged("c", "IN_PROGRESS", "UNCERTAIN", "ada", 1)
                .commandChanged("c", "UNCERTAIN", null, "ada", 1);
        isViolated(1, "from UNCERTAIN to NONE without an operator");
    }

    @Test
    void changeThatBeginsElsewhereIsNot() {
        story.commandChanged("c", "FAILED", "IN_PROGRESS", "bob", 2);
        isViolated(1, "from FAILED to IN_PROGRESS, and was IN_PROGRESS before");
    }
}
