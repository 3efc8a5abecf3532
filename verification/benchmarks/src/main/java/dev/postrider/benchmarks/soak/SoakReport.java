package dev.postrider.benchmarks.soak;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results, with their aims. */
record SoakReport(Map<String, String> environment, int rate, Map<String, List<Sample>> samples, List<Double> heap) {

    /** The first samples of a phase still show the change to it. */
    private static final int WARM_UP = 3;

    private record Aim(String what, double value, double limit, boolean atLeast) {

        boolean isMet() {
            return atLeast ? value >= limit : value <= limit;
        }
    }

    boolean isGood() {
        return heapAim().isMet()
                && samples.entrySet().stream()
                        .filter(entry -> entry.getKey().startsWith("postrider"))
                        .allMatch(entry -> aims(entry.getValue()).stream().allMatch(Aim::isMet));
    }

    private List<Aim> aims(List<Sample> all) {
        List<Sample> baseline = of(all, Sample.Phase.BASELINE);
        List<Sample> held = of(all, Sample.Phase.HELD);
        List<Sample> recovery = of(all, Sample.Phase.RECOVERY);
        double delivered = mean(baseline, Sample::rate);
        double look = Math.max(Sample.look(0.99, baseline), 1);
        return List.of(
                new Aim("rate under the snapshot against before", mean(held, Sample::rate) / delivered, 0.95, true),
                new Aim(
                        "look p99 in the last minute of it against before",
                        Sample.look(0.99, last(held)) / look,
                        2,
                        false),
                new Aim("the same in ms", Sample.look(0.99, last(held)) / 1000.0, 20, false),
                new Aim(
                        "most messages waiting under the snapshot, in seconds of load",
                        held.stream().mapToLong(Sample::backlog).max().orElse(0) / (double) rate,
                        5,
                        false),
                new Aim("look p99 in the end against before", Sample.look(0.99, last(recovery)) / look, 2, false),
                new Aim(
                        "size in the end against before",
                        mean(last(recovery), Sample::megabytes)
                                / Math.max(mean(last(baseline), Sample::megabytes), 0.001),
                        1.2,
                        false));
    }

    private static List<Sample> of(List<Sample> all, Sample.Phase phase) {
        List<Sample> chosen =
                all.stream().filter(sample -> sample.phase() == phase).toList();
        return chosen.subList(Math.min(WARM_UP, chosen.size() / 2), chosen.size());
    }

    private static List<Sample> last(List<Sample> phase) {
        return phase.subList(Math.max(phase.size() - 6, 0), phase.size());
    }

    /** The aim for the heap of the whole process, so it is checked once. */
    private Aim heapAim() {
        return new Aim("heap after a collection, rise in ten minutes in MB", slopePerTenMinutes(), 1, false);
    }

    @FunctionalInterface
    private interface Value {
        double of(Sample sample);
    }

    private static double mean(List<Sample> chosen, Value value) {
        return chosen.stream().mapToDouble(value::of).average().orElse(Double.NaN);
    }

    String markdown() {
        StringBuilder text = new StringBuilder("# Soak\n\n" + rate + " messages/s for each.\n\n");
        environment.forEach((name, value) ->
                text.append("- ").append(name).append(": ").append(value).append('\n'));
        text.append("\n| | value | hoped for | |\n|---|---|---|---|\n");
        samples.forEach((name, all) -> aims(all).forEach(aim -> text.append(line(name, aim))));
        text.append(line("all in one process", heapAim()));
        text.append(String.format(
                Locale.ROOT,
                "%nHeap after a collection: %.1f MB in the first tenth, %.1f MB in the last.%n",
                first(heap),
                end(heap)));
        text.append(
                "\n| | phase | rate | backlog | look p50 µs | look p99 µs | MB | history MB | dead rows |\n|---|---|---|---|---|---|---|---|---|\n");
        samples.forEach((name, all) -> {
            for (Sample.Phase phase : Sample.Phase.values()) {
                List<Sample> part = of(all, phase);
                text.append(String.format(
                        Locale.ROOT,
                        "| %s | %s, last minute | %.0f | %.0f | %d | %d | %.1f | %.1f | %.0f |%n",
                        name,
                        phase.name().toLowerCase(Locale.ROOT),
                        mean(last(part), Sample::rate),
                        mean(last(part), Sample::backlog),
                        Sample.look(0.5, last(part)),
                        Sample.look(0.99, last(part)),
                        mean(last(part), Sample::megabytes),
                        mean(last(part), Sample::history),
                        mean(last(part), Sample::deadRows)));
            }
        });
        return text.toString();
    }

    private static String line(String name, Aim aim) {
        return String.format(
                Locale.ROOT,
                "| %s: %s | %.2f | %s %.2f | %s |%n",
                name,
                aim.what(),
                aim.value(),
                aim.atLeast() ? "≥" : "≤",
                aim.limit(),
                aim.isMet() ? "yes" : "**no**");
    }

    private static double first(List<Double> values) {
        return values.stream()
                .limit(Math.max(values.size() / 10, 1))
                .mapToDouble(value -> value)
                .average()
                .orElse(0);
    }

    private static double end(List<Double> values) {
        return values.stream()
                .skip(values.size() - Math.max(values.size() / 10, 1))
                .mapToDouble(value -> value)
                .average()
                .orElse(0);
    }

    /** By least squares over the second half, when all caches are filled. */
    private double slopePerTenMinutes() {
        List<Double> half = heap.subList(heap.size() / 2, heap.size());
        double middle = (half.size() - 1) / 2.0;
        double mean = half.stream().mapToDouble(value -> value).average().orElse(0);
        double above = 0;
        double below = 0;
        for (int i = 0; i < half.size(); i++) {
            above += (i - middle) * (half.get(i) - mean);
            below += (i - middle) * (i - middle);
        }
        return below == 0 ? 0 : above / below * 60;
    }

    String csv() {
        StringBuilder text = new StringBuilder(
                "subject,phase,second,rate,backlog,looks,look_p50_us,look_p99_us,megabytes,history_megabytes,dead_rows\n");
        samples.forEach((name, all) -> all.forEach(sample -> text.append(String.format(
                Locale.ROOT,
                "%s,%s,%d,%.1f,%d,%d,%d,%d,%.1f,%.1f,%d%n",
                name,
                sample.phase(),
                sample.second(),
                sample.rate(),
                sample.backlog(),
                sample.looks().size(),
                sample.look(0.5),
                sample.look(0.99),
                sample.megabytes(),
                sample.history(),
                sample.deadRows()))));
        return text.toString();
    }
}
