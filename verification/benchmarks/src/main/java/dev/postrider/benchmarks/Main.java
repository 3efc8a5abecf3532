package dev.postrider.benchmarks;

import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.MachineLoad;
import dev.postrider.benchmarks.measurement.Bench;
import dev.postrider.benchmarks.measurement.Measurement;
import dev.postrider.benchmarks.measurement.Measurements;
import dev.postrider.benchmarks.report.Explanation;
import dev.postrider.benchmarks.report.Figure;
import dev.postrider.benchmarks.report.HtmlReport;
import dev.postrider.benchmarks.report.JsonReport;
import dev.postrider.benchmarks.report.MarkdownReport;
import dev.postrider.benchmarks.report.Report;
import dev.postrider.benchmarks.report.TextTable;
import dev.postrider.testkit.database.DatabaseUnavailableException;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The {@code bench} command. Figures go to the standard output and to files, progress to the standard error. */
public final class Main {

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        System.exit(run(List.of(arguments)));
    }

    private static int run(List<String> words) throws IOException {
        Arguments arguments;
        List<Measurement> measurements;
        try {
            arguments = Arguments.parse(words, Path.of(System.getProperty("postrider.bench.out", "bench-report")));
            measurements = chosen(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println("postrider bench: " + e.getMessage());
            System.err.print(Arguments.USAGE);
            return 2;
        }
        if (arguments.help()) {
            System.out.print(Arguments.USAGE);
            return 0;
        }
        String db = arguments.db();
        try (Arena arena = db == null ? Arena.start(Engine.POSTGRESQL_18) : Arena.at(db)) {
            Bench bench = new Bench(arena, arguments.scale(), System.err);
            Report report = measure(bench, measurements, leftOut(arguments, measurements));
            write(report, arguments.out());
            System.out.print(TextTable.of(report));
            return report.failed().isEmpty() ? 0 : 1;
        }
    }

    private static List<Measurement> chosen(Arguments arguments) {
        List<Measurement> all = Measurements.all();
        List<String> names = names(all);
        for (String name : arguments.only()) {
            if (!names.contains(name)) {
                throw new IllegalArgumentException(
                        "There is no figure '" + name + "'; there are " + String.join(", ", names));
            }
        }
        return all.stream()
                .filter(each -> arguments.only().isEmpty()
                        ? each.isPartOf(arguments.scale())
                        : each.names().stream().anyMatch(arguments.only()::contains))
                .toList();
    }

    /** The figures that a run of all figures leaves out. */
    private static List<String> leftOut(Arguments arguments, List<Measurement> measurements) {
        List<String> names =
                arguments.only().isEmpty() ? new ArrayList<>(names(Measurements.all())) : new ArrayList<>();
        names.removeAll(names(measurements));
        return names;
    }

    private static List<String> names(List<Measurement> measurements) {
        return measurements.stream().flatMap(each -> each.names().stream()).toList();
    }

    /** Runs the measurements. A failed one does not stop the others. */
    static Report measure(Bench bench, List<Measurement> measurements, List<String> leftOut) {
        Map<String, String> environment = Environment.describe(bench.arena(), bench.scale());
        String loadBefore = Environment.loadAverage();
        MachineLoad before = MachineLoad.now();
        long start = System.nanoTime();
        List<Figure> figures = new ArrayList<>();
        Map<String, String> unavailable = new LinkedHashMap<>();
        Map<String, String> failed = new LinkedHashMap<>();
        for (Measurement measurement : measurements) {
            if (bench.isOver()) {
                unavailable.put(
                        String.join(", ", measurement.names()),
                        "the " + bench.scale().limit().toMinutes() + " minutes of the run were over");
                continue;
            }
            long begun = System.nanoTime();
            try {
                figures.addAll(measurement.run(bench));
            } catch (DatabaseUnavailableException e) {
                unavailable.put(String.join(", ", measurement.names()), String.valueOf(e.getMessage()));
            } catch (Exception e) {
                failed.put(String.join(", ", measurement.names()), String.valueOf(e));
            }
            bench.progress().println(measurement.names().get(0) + " took " + seconds(begun));
        }
        environment.put("load average", loadBefore + " before, " + Environment.loadAverage() + " after");
        environment.put(Explanation.PROCESSORS_USED, MachineLoad.now().since(before));
        environment.put("took", seconds(start));
        return new Report(environment, figures, leftOut, unavailable, failed);
    }

    private static String seconds(long sinceNanos) {
        return (System.nanoTime() - sinceNanos) / 1_000_000_000L + " s";
    }

    private static void write(Report report, Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("report.json"), JsonReport.of(report));
        Files.writeString(directory.resolve("report.md"), MarkdownReport.of(report));
        Files.writeString(directory.resolve("report.html"), HtmlReport.of(report));
        PrintStream progress = System.err;
        try (Stream<Path> files = Files.list(directory)) {
            files.sorted().forEach(file -> progress.println("wrote " + file));
        }
    }
}
