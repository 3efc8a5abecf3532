package dev.postrider.checker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CheckerTest {

    @TempDir
    Path directory;

    private Story good() {
        return new Story(directory)
                .written("a")
                .inOrder("k", "a1", "a2")
                .taken("w", "a")
                .takenInOrder("w", "a1", "a2")
                .effect("billing", "a")
                .asked("1", "c", "join", "f")
                .commandEffect("c", "1")
                .told("1", "completed", "yes");
    }

    @Test
    void goodRunIsSaidToBeGood() throws IOException {
        try (Story story = good()) {
            Story.Answer answer = story.check();
            assertThat(answer.status()).as(answer.text()).isZero();
            assertThat(answer.text()).contains("I1 holds: 3 committed messages").contains("I7 not checked: no changes");
            assertThat(answer.text().lines()).hasSize(15);
            assertThat(Files.readString(directory.resolve("verdict.txt"))).isEqualTo(answer.text());
            assertThat(Files.readAllLines(directory.resolve("verdict.md")))
                    .hasSize(17)
                    .contains("| I3 | payload identity | holds | 3 deliveries were as they were written |");
            assertThat(Files.readAllLines(directory.resolve("timeline.csv")))
                    .containsExactly("second,committed,received,again,faults", "0,3,3,0,");
            assertThat(directory.resolve("recovery.md")).exists();
        }
    }

    @Test
    void oneViolationIsEnough() {
        try (Story story = good()) {
            Story.Answer answer = story.written("lost").check();
            assertThat(answer.status()).isEqualTo(1);
            assertThat(answer.text()).contains("I1 VIOLATED: message " + Story.id("lost"));
        }
    }

    @Test
    void runInWhichNothingHappenedIsNotGood() {
        try (Story story = new Story(directory)) {
            Story.Answer answer = story.check();
            assertThat(answer.status()).isEqualTo(1);
            assertThat(answer.text()).contains("I1 not checked").doesNotContain("VIOLATED");
        }
    }

    @Test
    void runWithoutCommandsIsNotGood() {
        try (Story story = new Story(directory)) {
            Story.Answer answer = story.inOrder("k", "a1")
                    .takenInOrder("w", "a1")
                    .effect("billing", "a1")
                    .check();
            assertThat(answer.status()).as(answer.text()).isEqualTo(1);
            assertThat(answer.text()).contains("I12 not checked").contains("I5 holds");
        }
    }

    @Test
    void journalsAloneCanBeJudged() {
        try (Story story = good()) {
            Story.Answer answer = Story.run("--journals-only", directory.toString());
            assertThat(answer.status()).as(answer.text()).isZero();
            assertThat(answer.text()).contains("I5 not checked").contains("I10 not checked");
            assertThat(story.check().status()).isZero();
        }
    }

    @Test
    void evidenceThatCannotBeReadIsNotJudged() {
        assertThat(Story.run(directory.toString(), "jdbc:h2:mem:none", "", "").status())
                .isEqualTo(2);
        assertThat(Story.run("one").text()).contains("wants <directory>");
        try (Story story = good()) {
            story.line("operator", "dreamt");
            assertThat(story.check())
                    .matches(answer -> answer.status() == 2)
                    .matches(answer -> answer.text().contains("has an event that no operator writes"));
        }
    }

    @Test
    void timelineShowsWhatWasBrokenAndRecoveryHowLong() {
        try (Story story = new Story(directory)) {
            story.written("a", "b").started("v").started("w");
            story.sending("v", "a", "1").received("v", "a", 1).answered("v", "a", "ok");
            long killed = story.now() + 1;
            story.fault("kill-worker", "v", killed, killed).pass(3 * Story.SECOND);
            story.sending("w", "a", "2").taken("w", "a").acknowledged("w", "a");
            long crashed = story.now();
            story.fault("crash-database", "", crashed, crashed + Story.SECOND).pass(2 * Story.SECOND);
            story.taken("w", "b").line("worker-w", "stopping").line("worker-w", "stopped");

            Evidence evidence = story.evidence();
            assertThat(Timeline.lines(evidence))
                    .containsExactly(
                            "second,committed,received,again,faults",
                            "0,2,1,0,kill-worker",
                            "1,0,0,0,",
                            "2,0,0,0,",
                            "3,0,1,1,crash-database",
                            "4,0,0,0,crash-database",
                            "5,0,1,0,");
            List<String> recovery = Recovery.lines(evidence);
            assertThat(recovery)
                    .contains(
                            "| a worker was killed | its last message in flight came again | 1 | 3003 ms | 3003 ms | 7.0 s |",
                            "| the database was back | the first delivery | 1 | 1002 ms | 1002 ms | 5 s |",
                            "| a worker was told to stop | it had stopped | 1 | 1.0 ms | 1.0 ms |  |",
                            "| the destination was back | the first delivery | 0 | – | – | 10 s |");
        }
    }
}
