package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Some seconds in which nothing is broken from outside; the evidence stays in the build directory. With faults it is run by {@code ./postrider torture}. */
final class TortureTest {

    private static final long SEED = 20_261_116;
    private static final Path RUNS = Path.of("target", "runs");

    @Test
    void nothingComesTwiceWhileNothingBreaks() throws Exception {
        Summary summary = run(new Arguments(
                false, 10, SEED, Engine.POSTGRESQL_18, 2000, directory("test-faultless"), Set.of(), false, null));

        assertThat(summary.broken()).isEmpty();
        assertThat(summary.duplicates()).isZero();
        assertThat(summary.deaths()).isZero();
        assertSound(summary);
    }

    /** Evidence is worth something only if it can speak against us. */
    @Test
    void judgeNoticesMessagesThatAreAcknowledgedBeforeTheyAreDelivered() throws Exception {
        Summary summary = run(new Arguments(
                false,
                10,
                SEED,
                Engine.POSTGRESQL_18,
                2000,
                directory("test-mutant"),
                Set.of(),
                false,
                "acknowledge-before-delivery"));

        assertThat(summary.held()).isFalse();
        assertThat(summary.directory().resolve("verdict.txt")).content().contains("I1 VIOLATED", "I7 VIOLATED");
    }

    private static Summary run(Arguments arguments) throws InterruptedException, IOException {
        Summary summary = new Run(arguments, System.out::println).run();
        List<Path> report = new Report(summary).write();
        System.out.print(new Report(summary).text());
        assertThat(report).allSatisfy(file -> assertThat(file).isNotEmptyFile());
        return summary;
    }

    private static void assertSound(Summary summary) {
        assertThat(summary.sums().missing()).isEmpty();
        assertThat(summary.sums().phantoms()).isEmpty();
        assertThat(summary.sums().disorders()).isEmpty();
        assertThat(summary.sums().committed()).isGreaterThan(500);
        assertThat(summary.undrained()).isEmpty();
        assertThat(summary.verdict()).isZero();
    }

    /** A new one each time: evidence of two runs proves nothing. */
    private static Path directory(String name) throws IOException {
        Files.createDirectories(RUNS);
        return Files.createTempDirectory(RUNS, name);
    }
}
