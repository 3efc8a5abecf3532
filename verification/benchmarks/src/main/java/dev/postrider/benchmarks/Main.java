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
import dev.postrider.benchmarks.report.Missing;
import dev.postrider.benchmarks.report.Report;
import dev.postrider.benchmarks.report.Result;
import dev.postrider.benchmarks.report.TextTable;
import dev.postrider.testkit.database.DatabaseUnavailableException;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The {@code bench} command. Figures go to the standard output and to files, progress to the standard error. */
public final class Main {

    /** Early measurements, which matter most, get more than their part: some others need less than theirs. */
    private static final double PLENTY = 2;

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
            Path out = arguments.out();
            Report report =
                    measure(bench, measurements, leftOut(arguments, measurements), partial -> write(partial, out));
            write(report, out);
            try (Stream<Path> files = Files.list(out)) {
                files.sorted().forEach(file -> System.err.println("wrote " + file));
            }
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

    /** Takes the report of what is measured so far. */
    @FunctionalInterface
    interface Partial {
        void take(Report report) throws IOException;
    }

    /** Runs the measurements. A failed one does not stop the others. After each one there is a report of all until then. */
    static Report measure(Bench bench, List<Measurement> measurements, List<String> leftOut, Partial partial)
            throws IOException {
        Map<String, String> environment = Environment.describe(bench.arena(), bench.scale());
        String loadBefore = Environment.loadAverage();
        MachineLoad before = MachineLoad.now();
        long start = System.nanoTime();
        List<Figure> figures = new ArrayList<>();
        Map<String, String> unavailable = new LinkedHashMap<>();
        Map<String, String> failed = new LinkedHashMap<>();
        for (int i = 0; i < measurements.size(); i++) {
            Measurement measurement = measurements.get(i);
            if (bench.isOver()) {
                unavailable.put(
                        String.join(", ", measurement.names()),
                        "the " + bench.scale().limit().toMinutes() + " minutes of the run were over");
                continue;
            }
            long begun = System.nanoTime();
            try {
                for (Result result : measurement.run(bench.ofRun(PLENTY * part(measurements, i)))) {
                    if (result instanceof Figure figure) {
                        figures.add(figure);
                    } else if (result instanceof Missing missing) {
                        failed.put(missing.name(), missing.reason());
                    }
                }
            } catch (DatabaseUnavailableException e) {
                unavailable.put(String.join(", ", measurement.names()), String.valueOf(e.getMessage()));
            } catch (Exception e) {
                failed.put(String.join(", ", measurement.names()), String.valueOf(e));
            }
            bench.progress().println(measurement.names().get(0) + " took " + seconds(begun));
            Map<String, String> notYet = new LinkedHashMap<>(unavailable);
            names(measurements.subList(i + 1, measurements.size()))
                    .forEach(name -> notYet.put(name, "the run had not come to it when this was written"));
            environment.put(Explanation.PROCESSORS_USED, MachineLoad.now().since(before));
            environment.put("took", seconds(start));
            partial.take(new Report(environment, figures, leftOut, notYet, failed));
        }
        environment.put("load average", loadBefore + " before, " + Environment.loadAverage() + " after");
        environment.put(Explanation.PROCESSORS_USED, MachineLoad.now().since(before));
        environment.put("took", seconds(start));
        return new Report(environment, figures, leftOut, unavailable, failed);
    }

    /** The part of the remaining time that a measurement gets, by its usual duration and that of those that follow. */
    private static double part(List<Measurement> measurements, int number) {
        double left = measurements.subList(number, measurements.size()).stream()
                .mapToDouble(Measurement::minutes)
                .sum();
        return measurements.get(number).minutes() / left;
    }

    private static String seconds(long sinceNanos) {
        return (System.nanoTime() - sinceNanos) / 1_000_000_000L + " s";
    }

    private static void write(Report report, Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("report.json"), JsonReport.of(report));
        Files.writeString(directory.resolve("report.md"), MarkdownReport.of(report));
        Files.writeString(directory.resolve("report.html"), HtmlReport.of(report));
    }
}
