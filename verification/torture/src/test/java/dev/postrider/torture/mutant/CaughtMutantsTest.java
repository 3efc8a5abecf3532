package dev.postrider.torture.mutant;

import static java.util.stream.Collectors.flatMapping;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tests that a mutant names fail with it, and pass without it. Each has classes and a database of its own. Several run at once,
 * because they wait more than they compute; each on its own servers, because the horizon depends on all transactions of a server.
 */
@Execution(ExecutionMode.CONCURRENT)
final class CaughtMutantsTest {

    private static final long SECONDS = 600;
    private static final Path TABLE = Path.of("target/mutants.md");

    /** As many as {@code junit-platform.properties} runs at once. */
    private static final int AT_ONCE = 4;

    private static final BlockingQueue<ServerLoader> SERVERS = new ArrayBlockingQueue<>(AT_ONCE);

    /** A line of the table for each that was caught, by its name. */
    private static final NavigableMap<String, String> CAUGHT = new ConcurrentSkipListMap<>();

    @TempDir
    static Path made;

    static List<Mutant> mutants() {
        return MutantsTest.mutants();
    }

    /** As many at a time as there are processors. */
    @BeforeAll
    static void makeAll() throws Exception {
        if (!Boolean.getBoolean("postrider.full")) {
            String notice = "NOT RUN: the " + mutants().size() + " mutants; ./mvnw verify -Pfull runs them";
            System.err.println(notice);
            Assumptions.abort(notice);
        }
        ServerLoader first = new ServerLoader();
        for (Engine engine : engines()) {
            first.start(engine); // unpacks what the others use too
        }
        SERVERS.add(first);
        while (SERVERS.remainingCapacity() > 0) {
            SERVERS.add(new ServerLoader());
        }
        Mutants mutants = Mutants.in(MutantsTest.REPOSITORY);
        String classPath = System.getProperty("java.class.path");
        mutants.all().parallelStream().forEach(mutant -> mutants.make(mutant, made.resolve(mutant.name()), classPath));
    }

    private static Set<Engine> engines() {
        return mutants().stream().map(Mutant::engine).collect(toCollection(LinkedHashSet::new));
    }

    @AfterAll
    static void writeTable() throws IOException {
        if (CAUGHT.isEmpty()) {
            return;
        }
        Files.writeString(
                TABLE,
                "| mutant | what is wrong | caught by | seconds |\n|---|---|---|---|\n"
                        + String.join("", CAUGHT.values()));
    }

    @Test
    void allPassWithoutAMutant(@TempDir Path nothing) throws Exception {
        Map<Engine, Set<String>> tests = mutants().stream()
                .collect(groupingBy(
                        Mutant::engine,
                        TreeMap::new,
                        flatMapping(mutant -> mutant.caughtBy().stream(), toCollection(LinkedHashSet::new))));
        for (Map.Entry<Engine, Set<String>> each : tests.entrySet()) {
            assertThat(failures(nothing, each.getKey(), List.copyOf(each.getValue())))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void failsWithTheMutant(Mutant mutant) throws Exception {
        Path classes = made.resolve(mutant.name()).resolve("classes");
        long begun = System.nanoTime();
        List<String> failures = failures(classes, mutant.engine(), mutant.caughtBy());
        double seconds = (System.nanoTime() - begun) / 1e9;
        assertThat(failures)
                .isNotEmpty()
                .as("a statement that the database does not understand is no mutant")
                .noneMatch(failure -> failure.contains("SQLState 42"));
        CAUGHT.put(mutant.name(), line(mutant, seconds));
        System.out.printf(
                Locale.ROOT,
                "%s is caught after %.1f s: %s%n",
                mutant.name(),
                seconds,
                failures.get(0).lines().findFirst().orElse(""));
    }

    private static String line(Mutant mutant, double seconds) {
        String tests =
                mutant.caughtBy().stream().map(test -> "`" + shown(test) + "`").collect(joining(", "));
        return String.format(Locale.ROOT, "| `%s` | %s | %s | %.1f |%n", mutant.name(), mutant.wrong(), tests, seconds);
    }

    /** Suites that are named without their package are contracts. */
    private static String shown(String test) {
        int dot = test.lastIndexOf('.');
        return dot < 0 ? test.replace("#", "Contract#") : test.substring(dot + 1);
    }

    /** A run that does not end is left behind, in a thread that keeps no process alive. */
    private static List<String> failures(Path mutant, Engine engine, List<String> tests) throws Exception {
        ServerLoader servers = SERVERS.take();
        try {
            servers.assumeStarted(engine);
            return failures(mutant, servers, engine, tests);
        } finally {
            SERVERS.add(servers);
        }
    }

    private static List<String> failures(Path mutant, ServerLoader servers, Engine engine, List<String> tests)
            throws Exception {
        try (MutantLoader loader = new MutantLoader(mutant, servers)) {
            @SuppressWarnings("unchecked")
            BiFunction<String, List<String>, List<String>> suites = (BiFunction<String, List<String>, List<String>>)
                    loader.loadClass(SuiteRun.class.getName()).getConstructor().newInstance();
            FutureTask<List<String>> run = new FutureTask<>(() -> suites.apply(engine.name(), tests));
            Thread thread = new Thread(run, "mutant");
            thread.setDaemon(true);
            thread.setContextClassLoader(loader);
            thread.start();
            return run.get(SECONDS, TimeUnit.SECONDS);
        }
    }
}
