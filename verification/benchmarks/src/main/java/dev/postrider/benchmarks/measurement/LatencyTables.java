package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.measurement.TracedMessage.Stage;
import dev.postrider.benchmarks.report.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;

/** What latencies consist of, and whether the control stood still when messages were slow. */
final class LatencyTables {

    private static final double[] BOUNDS = {0.1, 0.3, 1, 3, 10, 30, 100};
    private static final int SLOWEST = 10;

    /** The rounds of each system. */
    private final Map<String, List<Latencies>> systems;

    private LatencyTables(Map<String, List<Latencies>> systems) {
        this.systems = systems;
    }

    static List<Table> of(Map<String, List<Latencies>> systems) {
        LatencyTables tables = new LatencyTables(systems);
        return List.of(tables.stages(), tables.histograms(), tables.rounds(), tables.slowest());
    }

    private Table stages() {
        List<List<String>> rows = new ArrayList<>();
        stages((system, stage, millis) -> rows.add(List.of(
                system,
                stage.displayName(),
                number(Latencies.percentile(millis, 0.5)),
                number(Latencies.percentile(millis, 0.99)),
                number(Latencies.percentile(millis, 1)))));
        return new Table(
                "Stages, ms",
                "All rounds together. The time from commit to receiver is the latency: the sum of the three stages before it. A local"
                        + " hand-over reads nothing.",
                List.of("system", "stage", "p50", "p99", "max"),
                rows);
    }

    private Table histograms() {
        List<String> columns = new ArrayList<>(List.of("system", "stage"));
        for (double bound : BOUNDS) {
            columns.add(String.format(Locale.ROOT, bound < 1 ? "< %.1f ms" : "< %.0f ms", bound));
        }
        columns.add("more");
        List<List<String>> rows = new ArrayList<>();
        stages((system, stage, millis) -> {
            int[] counts = new int[BOUNDS.length + 1];
            for (double each : millis) {
                int bucket = Arrays.binarySearch(BOUNDS, each);
                counts[bucket >= 0 ? bucket + 1 : -bucket - 1]++;
            }
            List<String> row = new ArrayList<>(List.of(system, stage.displayName()));
            Arrays.stream(counts).forEach(count -> row.add(count == 0 ? "" : String.format(Locale.ROOT, "%,d", count)));
            rows.add(row);
        });
        return new Table(
                "Histogram of each stage",
                "Messages of all rounds, each below the bound of its column.",
                columns,
                rows);
    }

    /** A row for a stage. */
    @FunctionalInterface
    private interface StageRow {
        void add(String system, Stage stage, double[] millis);
    }

    private void stages(StageRow row) {
        systems.forEach((system, rounds) -> {
            List<TracedMessage> messages =
                    rounds.stream().flatMap(round -> round.messages().stream()).toList();
            boolean staged = messages.stream().allMatch(TracedMessage::staged);
            for (Stage stage : Stage.values()) {
                if (staged || stage == Stage.COMMIT || stage == Stage.DELIVERY) {
                    row.add(
                            system,
                            stage,
                            messages.stream()
                                    .mapToDouble(message -> message.millis(stage))
                                    .toArray());
                }
            }
        });
    }

    private Table rounds() {
        List<List<String>> rows = new ArrayList<>();
        systems.forEach((system, rounds) -> {
            for (int round = 0; round < rounds.size(); round++) {
                Latencies latencies = rounds.get(round);
                List<TracedMessage> slow = latencies.slowest();
                long stalled = slow.stream()
                        .filter(message -> message.isStalled(latencies.stalls()))
                        .count();
                rows.add(List.of(
                        system,
                        Integer.toString(round + 1),
                        number(latencies.p99()),
                        number(latencies.max()),
                        stalled + " of " + slow.size(),
                        number(latencies.stalls().longestDelayMillis()),
                        number(latencies.stalls().longestPauseMillis()),
                        number(latencies.messages().stream()
                                .mapToDouble(message -> message.millis(Stage.COMMIT))
                                .max()
                                .orElse(0)),
                        latencies.processors()));
            }
        });
        return new Table(
                "Rounds beside the control, ms",
                "The control is a thread of the same process that wakes every millisecond. A slow message, one of the slowest hundredth of"
                        + " its round, counts as stalled when the control or the garbage collector stood still for at least half of its"
                        + " latency: then the computer or the JVM was slow, not the system.",
                List.of(
                        "system",
                        "round",
                        "p99",
                        "max",
                        "stalled",
                        "longest delay",
                        "longest collection",
                        "longest commit",
                        "processors used"),
                rows);
    }

    private record Slow(int round, Latencies latencies, TracedMessage message) {}

    private Table slowest() {
        List<List<String>> rows = new ArrayList<>();
        systems.forEach((system, rounds) -> {
            List<Slow> slow = new ArrayList<>();
            for (int round = 0; round < rounds.size(); round++) {
                Latencies latencies = rounds.get(round);
                for (TracedMessage message : latencies.slowest()) {
                    slow.add(new Slow(round + 1, latencies, message));
                }
            }
            slow.stream()
                    .sorted(Comparator.comparingDouble(
                                    (Slow each) -> each.message().deliveryMillis())
                            .reversed())
                    .limit(SLOWEST)
                    .forEach(each -> rows.add(row(system, each)));
        });
        List<String> columns = new ArrayList<>(List.of("system", "round", "second", "commit to receiver"));
        Arrays.stream(Stage.values())
                .filter(Stage::isSingle)
                .map(Stage::displayName)
                .forEach(columns::add);
        columns.addAll(List.of("control late", "collection", "stalled"));
        return new Table(
                "The slowest messages, ms",
                "The ten slowest of each system. The second counts from the start of the load. The control and the collector are those of"
                        + " the time from commit to receiver.",
                columns,
                rows);
    }

    private static List<String> row(String system, Slow slow) {
        TracedMessage message = slow.message();
        Stalls stalls = slow.latencies().stalls();
        double second = (message.commit().confirmed() - slow.latencies().began()) / 1e9;
        List<String> row = new ArrayList<>(List.of(
                system,
                Integer.toString(slow.round()),
                String.format(Locale.ROOT, "%.2f", second),
                number(message.deliveryMillis())));
        Arrays.stream(Stage.values())
                .filter(Stage::isSingle)
                .map(stage -> message.staged() || stage == Stage.COMMIT ? number(message.millis(stage)) : "")
                .forEach(row::add);
        DoubleStream.of(message.delayedMillis(stalls), message.pausedMillis(stalls))
                .mapToObj(LatencyTables::number)
                .forEach(row::add);
        row.add(message.isStalled(stalls) ? "yes" : "no");
        return row;
    }

    private static String number(double millis) {
        return String.format(Locale.ROOT, millis >= 100 ? "%.0f" : millis >= 10 ? "%.1f" : "%.2f", millis);
    }
}
