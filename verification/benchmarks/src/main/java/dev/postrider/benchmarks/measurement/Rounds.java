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
import java.util.function.BooleanSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Measures several systems in turn, in rounds. Each round begins with another system, so that other load on the computer affects all
 * of them. A failed system is left out of further rounds, and the report has the reason.
 */
final class Rounds<T> {

    private final String name;
    private final int count;
    private final BooleanSupplier isLate;
    private final PrintStream progress;
    private final Map<String, Callable<T>> systems = new LinkedHashMap<>();
    private final Map<String, List<T>> results = new LinkedHashMap<>();
    private final Map<String, String> failures = new LinkedHashMap<>();
    private int done;

    /** @param isLate whether the time of the run is nearly over, so that one round must be enough */
    Rounds(String name, int count, BooleanSupplier isLate, PrintStream progress) {
        this.name = name;
        this.count = count;
        this.isLate = isLate;
        this.progress = progress;
    }

    Rounds<T> system(String system, Callable<T> measured) {
        systems.put(system, measured);
        results.put(system, new ArrayList<>());
        return this;
    }

    Rounds<T> run() {
        List<String> order = new ArrayList<>(systems.keySet());
        while (done < count && (done == 0 || !isLate.getAsBoolean())) {
            done++;
            for (String system : order) {
                take(done, system);
            }
            Collections.rotate(order, -1);
        }
        return this;
    }

    private void take(int round, String system) {
        Callable<T> measured = systems.get(system);
        List<T> taken = results.get(system);
        if (measured == null || taken == null || failures.containsKey(system)) {
            return;
        }
        try {
            T result = measured.call();
            taken.add(result);
            Object shown = result instanceof Double number ? String.format(Locale.ROOT, "%,.2f", number) : result;
            progress.println(name + " " + round + "/" + count + " " + system + ": " + shown);
        } catch (Exception e) {
            failures.put(system, String.valueOf(e));
            progress.println(name + " " + round + "/" + count + " " + system + " FAILED: " + e);
        }
    }

    /** One number of each round, for every system that took part in all of them. */
    Map<String, Samples> samples(ToDoubleFunction<T> number) {
        Map<String, Samples> samples = new LinkedHashMap<>();
        results.forEach((system, taken) -> {
            if (!taken.isEmpty() && !failures.containsKey(system)) {
                samples.put(system, Samples.of(taken, number));
            }
        });
        return samples;
    }

    /** The results of all systems and rounds. */
    Stream<T> results() {
        return results.values().stream().flatMap(List::stream);
    }

    List<String> notes() {
        List<String> notes = new ArrayList<>();
        failures.forEach((system, failure) -> notes.add(system + " failed: " + failure));
        if (done < count) {
            notes.add(done + " of " + count + " rounds: the time of the run was nearly over");
        }
        return notes;
    }
}
