package dev.postrider.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.jdbc.SimulatedStores.Speech;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Many runs of whole nodes, each from its own seed; {@code docs/simulation.md} says what happens in them. */
final class SimulationTest {

    private static final long FIRST = 1;
    private static final int SEEDS = Integer.getInteger("postrider.simulation.seeds", 300);
    private static final Long ONE = Long.getLong("postrider.simulation.seed");
    private static final int SHOWN = 3;

    @Test
    void everyRunKeepsThePromise() throws Exception {
        long begin = System.nanoTime();
        List<Simulation.Run> runs = ONE == null ? runs(FIRST, SEEDS) : List.of(Simulation.of(ONE, Speech.RIGHT, true));
        List<Simulation.Run> bad = runs.stream().filter(run -> !run.isGood()).toList();

        System.out.println(summary(runs, System.nanoTime() - begin));
        if (ONE == null && !Boolean.getBoolean("postrider.full")) {
            System.err.println("NOT RUN: more seeds than " + SEEDS + "; ./mvnw verify -Pfull runs 10,000");
        }
        if (ONE != null) {
            runs.get(0).trace().forEach(System.out::println);
        }
        assertThat(bad)
                .as(() -> bad.size() + " of " + runs.size() + " runs broke the promise. "
                        + bad.stream().limit(SHOWN).map(SimulationTest::told).collect(Collectors.joining("\n")))
                .isEmpty();
    }

    private static String told(Simulation.Run run) {
        return "Seed " + run.seed() + " (replay it with -Dpostrider.simulation.seed=" + run.seed() + "): "
                + String.join("; ", run.violations());
    }

    private static String summary(List<Simulation.Run> runs, long nanos) {
        return String.format(
                Locale.ROOT,
                "%d runs in %.1f s: %d messages, %d arrivals, %d steps, %d s of virtual time",
                runs.size(),
                nanos / 1e9,
                runs.stream().mapToLong(Simulation.Run::messages).sum(),
                runs.stream().mapToLong(Simulation.Run::arrivals).sum(),
                runs.stream().mapToLong(Simulation.Run::steps).sum(),
                runs.stream().mapToLong(run -> run.time().toSeconds()).sum());
    }

    private static List<Simulation.Run> runs(long first, int count) throws Exception {
        ExecutorService workers =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            List<Callable<Simulation.Run>> tasks = LongStream.range(first, first + count)
                    .<Callable<Simulation.Run>>mapToObj(seed -> () -> Simulation.of(seed, Speech.RIGHT, false))
                    .toList();
            List<Simulation.Run> runs = new ArrayList<>();
            for (Future<Simulation.Run> run : workers.invokeAll(tasks)) {
                runs.add(run.get());
            }
            return runs;
        } finally {
            workers.shutdown();
        }
    }

    @Test
    void seedRunsTheSameEachTime() {
        for (long seed = FIRST; seed < FIRST + 20; seed++) {
            Simulation.Run once = Simulation.of(seed, Speech.RIGHT, false);
            Simulation.Run again = Simulation.of(seed, Speech.RIGHT, true);

            assertThat(again.hash()).as("seed " + seed).isEqualTo(once.hash());
            assertThat(again.steps()).isEqualTo(once.steps());
        }
    }
}
