package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.report.Samples;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongPredicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Measures several systems in turn, in rounds. Each round begins with another system, so that other load on the computer affects all
 * of them. A failed system is left out of further rounds, and the report has the reason.
 */
final class Rounds<T> {

    /** What a system does before its first round. */
    @FunctionalInterface
    interface WarmUp {
        void run() throws Exception;
    }

    private final String name;
    private final int count;
    private final LongPredicate hasTimeFor;
    private final PrintStream progress;
    private final Map<String, WarmUp> warmUps = new LinkedHashMap<>();
    private final Map<String, Callable<T>> systems = new LinkedHashMap<>();
    private final Map<String, List<T>> results = new LinkedHashMap<>();
    private final Map<String, String> failures = new LinkedHashMap<>();
    private int done;

    /** @param hasTimeFor whether there is time for one more round that takes this many nanoseconds; the first one is always made */
    Rounds(String name, int count, LongPredicate hasTimeFor, PrintStream progress) {
        this.name = name;
        this.count = count;
        this.hasTimeFor = hasTimeFor;
        this.progress = progress;
    }

    Rounds<T> system(String system, Callable<T> measured) {
        systems.put(system, measured);
        results.put(system, new ArrayList<>());
        return this;
    }

    /** A system that is warmed up before the first round. */
    Rounds<T> system(String system, WarmUp warmUp, Callable<T> measured) {
        warmUps.put(system, warmUp);
        return system(system, measured);
    }

    Rounds<T> run() {
        warmUps.forEach((system, warmUp) -> guarded("warm-up", system, warmUp));
        List<String> order = new ArrayList<>(systems.keySet());
        long longest = 0;
        while (done < count && (done == 0 || hasTimeFor.test(longest))) {
            long began = System.nanoTime();
            done++;
            for (String system : order) {
                take(done, system);
            }
            Collections.rotate(order, -1);
            longest = Math.max(longest, System.nanoTime() - began);
        }
        return this;
    }

    private void guarded(String step, String system, WarmUp task) {
        try {
            task.run();
        } catch (Exception e) {
            failures.put(system, String.valueOf(e));
            progress.println(name + " " + step + " " + system + " FAILED: " + e);
        }
    }

    private void take(int round, String system) {
        Callable<T> measured = systems.get(system);
        List<T> taken = results.get(system);
        if (measured == null || taken == null || failures.containsKey(system)) {
            return;
        }
        guarded(round + "/" + count, system, () -> {
            T result = measured.call();
            taken.add(result);
            Object shown = result instanceof Double number ? String.format(Locale.ROOT, "%,.2f", number) : result;
            progress.println(name + " " + round + "/" + count + " " + system + ": " + shown);
        });
    }

    /** One number of each round, for every system that took part in all of them. */
    Map<String, Samples> samples(ToDoubleFunction<T> number) {
        Map<String, Samples> samples = new LinkedHashMap<>();
        bySystem().forEach((system, taken) -> samples.put(system, Samples.of(taken, number)));
        return samples;
    }

    /** The results of each system that took part in all rounds. */
    Map<String, List<T>> bySystem() {
        Map<String, List<T>> all = new LinkedHashMap<>();
        results.forEach((system, taken) -> {
            if (!taken.isEmpty() && !failures.containsKey(system)) {
                all.put(system, List.copyOf(taken));
            }
        });
        return all;
    }

    /** The results of all systems and rounds. */
    Stream<T> results() {
        return results.values().stream().flatMap(List::stream);
    }

    List<String> notes() {
        List<String> notes = new ArrayList<>();
        failures.forEach((system, failure) -> notes.add(system + " failed: " + failure));
        if (done < count) {
            notes.add(done + " of " + count + " rounds: there was no time for more");
        }
        return notes;
    }
}
