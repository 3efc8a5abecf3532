package dev.postrider.benchmarks;

import dev.postrider.benchmarks.measurement.Scale;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of the command.
 *
 * @param only the figures to measure; empty for all
 * @param db the JDBC URL of a PostgreSQL database to use; null to start one
 */
record Arguments(
        Scale scale,
        boolean help,
        Set<String> only,
        @Nullable String db,
        Path out) {

    static final String USAGE = """
            Usage: postrider bench [--quick | --full] [--minutes N] [--only NAME,...] [--db URL] [--out DIR]

            Measures Postrider beside its peers and beside hand-written JDBC, and writes the figures: in at most twenty minutes,
            on two processors without other load.

              --quick          the main figures on PostgreSQL, in at most six minutes
              --full           all figures, with backlogs of millions, in 65 minutes and the last measurement
              --minutes N      the time for the run: with less of it there are fewer rounds. No measurement begins afterwards, so
                               that the run may end some minutes later. The report is written after each measurement.
              --only NAME,...  only the measurements that make these figures
              --db URL         a PostgreSQL of yours, as jdbc:postgresql://host/database?user=...&password=...; tables are
                               created in it and emptied. Without it one is started, with durable settings.
              --out DIR        where report.html, report.md and report.json go; benchmarks/target/report unless said otherwise
            """;

    /** @throws IllegalArgumentException with the reason, if an argument is not valid */
    static Arguments parse(List<String> arguments, Path defaultOut) {
        Scale scale = Scale.standard();
        boolean help = false;
        Duration limit = null;
        Set<String> only = new LinkedHashSet<>();
        String db = null;
        Path out = defaultOut;
        Deque<String> left = new ArrayDeque<>(arguments);
        while (!left.isEmpty()) {
            String option = left.remove();
            switch (option) {
                case "--quick" -> scale = Scale.quick();
                case "--full" -> scale = Scale.full();
                case "--help", "-h" -> help = true;
                case "--minutes" -> limit = minutes(value(option, left));
                case "--only" -> only.addAll(Arrays.asList(value(option, left).split(",")));
                case "--db" -> db = value(option, left);
                case "--out" -> out = Path.of(value(option, left));
                default -> throw new IllegalArgumentException("There is no option '" + option + "'");
            }
        }
        return new Arguments(limit == null ? scale : scale.within(limit), help, only, db, out);
    }

    private static Duration minutes(String text) {
        if (!text.matches("[1-9][0-9]{0,3}")) {
            throw new IllegalArgumentException("--minutes needs a whole number, not '" + text + "'");
        }
        return Duration.ofMinutes(Integer.parseInt(text));
    }

    private static String value(String option, Deque<String> left) {
        if (left.isEmpty()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return left.remove();
    }
}
