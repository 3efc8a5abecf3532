package dev.postrider.checker;

import org.junit.jupiter.api.Test;

final class ScheduleTest extends InvariantTest {

    ScheduleTest() {
        super(new Schedule());
    }

    private void retried(String name, int attempt, long delay, long after) {
        story.written(name)
                .started("w")
                .sending("w", name, "1")
                .failed("w", name, attempt, delay)
                .pass(after)
                .sending("w", name, "2");
    }

    @Test
    void notBeforeItsTimeIsRight() {
        story.scheduled("a", Story.BEGINNING + Story.SECOND).pass(Story.SECOND).taken("w", "a");
        holds(1);
    }

    @Test
    void beforeItsTimeIsNot() {
        story.scheduled("a", Story.BEGINNING + Story.SECOND)
                .pass(Story.SECOND / 2)
                .taken("w", "a");
        isViolated(1, "us before its time");
    }

    @Test
    void retryAfterItsDelayIsRight() {
        retried("a", 1, Story.SECOND, Story.SECOND);
        holds(1);
    }

    @Test
    void retryBeforeItsDelayIsOverIsNot() {
        retried("a", 1, Story.SECOND, Story.SECOND / 2);
        isViolated(1, Story.id("a") + " was sent again");
    }

    @Test
    void operatorMayWantItSooner() {
        retried("a", 1, Story.SECOND, 0);
        story.did("release", "a");
        retried("b", 1, Story.SECOND, Story.SECOND);
        holds(1);
    }

    @Test
    void workerThatWasLostMayNotHaveWrittenItsRetry() {
        retried("a", 1, Story.SECOND, 0);
        story.fault("kill-worker", "w", story.now(), story.now()).pass(6 * Story.SECOND);
        retried("b", 1, Story.SECOND, Story.SECOND);
        holds(1);
    }

    @Test
    void delaysInTheUpperHalfAreSpreadEvenly() {
        for (int retry = 0; retry < 600; retry++) {
            retried("a" + retry, 1, 500_000 + (retry * 311 % 600) * 500_000 / 599, Story.SECOND);
        }
        holds(600);
    }

    @Test
    void delaysInWholeMillisecondsAreSpreadEvenly() {
        for (int retry = 0; retry < 4000; retry++) {
            retried("a" + retry, 1, Math.round(10 + 10 * (retry * 311 % 4000) / 3999.0) * 1000, Story.SECOND);
        }
        holds(4000);
    }

    @Test
    void delaysThatAreAllNearTheLongestAreNot() {
        for (int retry = 0; retry < 600; retry++) {
            retried("a" + retry, 1, 900_000 + (retry * 311 % 600) * 100_000 / 599, Story.SECOND);
        }
        isViolated(1, "the delays of plain attempt 1, from 900000 to 1000000 us, are not spread evenly");
    }

    @Test
    void delaysWithoutChanceAreNoneOfThis() {
        for (int retry = 0; retry < 600; retry++) {
            retried("a" + retry, 1, 500_000, Story.SECOND);
        }
        holds(600);
    }
}
