package dev.postrider.checker;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** What the tests of all invariants share: a story, and what is to be said of it. */
abstract class InvariantTest {

    private final Invariant invariant;
    Story story;

    InvariantTest(Invariant invariant) {
        this.invariant = invariant;
    }

    @BeforeEach
    void begin(@TempDir Path directory) {
        story = new Story(directory);
    }

    @AfterEach
    void end() {
        story.close();
    }

    void holds(long checked) {
        Verdict verdict = story.judge(invariant);
        assertThat(verdict).as(verdict.text()).isInstanceOf(Verdict.Holds.class);
        assertThat(((Verdict.Holds) verdict).checked()).as(verdict.text()).isEqualTo(checked);
    }

    void isViolated(int times, String text) {
        isViolated(story.judge(invariant), times, text);
    }

    void isViolatedInJournals(int times, String text) {
        isViolated(story.judgeJournals(invariant), times, text);
    }

    void holdsInJournals(long checked) {
        Verdict verdict = story.judgeJournals(invariant);
        assertThat(verdict).as(verdict.text()).isInstanceOf(Verdict.Holds.class);
        assertThat(((Verdict.Holds) verdict).checked()).as(verdict.text()).isEqualTo(checked);
    }

    void isNotChecked(String text) {
        Verdict verdict = story.judge(invariant);
        assertThat(verdict).as(verdict.text()).isInstanceOf(Verdict.NotChecked.class);
        assertThat(verdict.text()).contains(text);
    }

    private static void isViolated(Verdict verdict, int times, String text) {
        assertThat(verdict).as(verdict.text()).isInstanceOf(Verdict.Violated.class);
        assertThat(verdict.text()).contains(text);
        assertThat(((Verdict.Violated) verdict).times()).as(verdict.text()).isEqualTo(times);
    }
}
