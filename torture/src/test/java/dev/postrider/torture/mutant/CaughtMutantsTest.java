package dev.postrider.torture.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The tests that a mutant names fail with it, and pass without it. Each runs in a process and on a database of its own. */
final class CaughtMutantsTest {

    private static final long SECONDS = 120;

    /** Tests of the modules that were built before this one; they are in no jar. */
    private static final String OTHER_TESTS = File.pathSeparator
            + MutantsTest.REPOSITORY.resolve("core/target/test-classes")
            + File.pathSeparator
            + MutantsTest.REPOSITORY.resolve("testkit/target/test-classes");

    @TempDir
    Path directory;

    static List<Mutant> mutants() {
        return MutantsTest.mutants().stream()
                .filter(mutant -> !mutant.caughtBy().isEmpty())
                .toList();
    }

    @Test
    void allPassWithoutAMutant() throws Exception {
        List<String> tests = mutants().stream()
                .flatMap(mutant -> mutant.caughtBy().stream())
                .distinct()
                .toList();
        assertThat(tests).hasSizeGreaterThan(5);
        Ended ended = run("", tests);
        assertThat(ended.status()).as(ended.output()).isZero();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void failsWithTheMutant(Mutant mutant) throws Exception {
        Mutants.in(MutantsTest.REPOSITORY).make(mutant, directory, System.getProperty("java.class.path"));
        Ended ended = run(directory.resolve("classes") + File.pathSeparator, mutant.caughtBy());
        assertThat(ended.status()).as(ended.output()).isEqualTo(SuiteProgram.FAILED);
        assertThat(ended.output())
                .as("a statement that the database does not understand is no mutant")
                .doesNotContain("SQLState 42");
        System.out.println(mutant.name() + " is caught: " + ended.failure());
    }

    private record Ended(int status, String output) {

        String failure() {
            return output.lines()
                    .filter(line -> line.contains(" failed: "))
                    .findFirst()
                    .orElse("");
        }
    }

    private Ended run(String first, List<String> tests) throws IOException, InterruptedException {
        Database database = Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("mutant");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                "-D" + Suites.URL + "=" + database.jdbcUrl(),
                "-D" + Suites.USER + "=" + database.user(),
                "-D" + Suites.PASSWORD + "=" + database.password(),
                "-cp",
                first + System.getProperty("java.class.path") + OTHER_TESTS,
                SuiteProgram.class.getName()));
        command.addAll(tests);
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
            String text = Files.readString(output, StandardCharsets.UTF_8);
            assertThat(ended).as("ended within %s s: %s", SECONDS, text).isTrue();
            return new Ended(process.exitValue(), text);
        } finally {
            process.destroyForcibly();
        }
    }
}
