package dev.postrider.benchmarks;

import dev.postrider.benchmarks.measurement.Scale;
import java.nio.file.Path;
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
            Usage: postrider bench [--quick | --full] [--only NAME,...] [--db URL] [--out DIR]

            Measures Postrider beside its peers and beside hand-written JDBC, and writes the figures: in at most twenty minutes,
            on two processors without other load.

              --quick          the main figures on PostgreSQL, in at most six minutes
              --full           all figures, with backlogs of millions, in about an hour
              --only NAME,...  only the measurements that make these figures
              --db URL         a PostgreSQL of yours, as jdbc:postgresql://host/database?user=...&password=...; tables are
                               created in it and emptied. Without it one is started, with durable settings.
              --out DIR        where report.html, report.md and report.json go; benchmarks/target/report unless said otherwise
            """;

    /** @throws IllegalArgumentException with the reason, if an argument is not valid */
    static Arguments parse(List<String> arguments, Path defaultOut) {
        Scale scale = Scale.standard();
        boolean help = false;
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
                case "--only" -> only.addAll(Arrays.asList(value(option, left).split(",")));
                case "--db" -> db = value(option, left);
                case "--out" -> out = Path.of(value(option, left));
                default -> throw new IllegalArgumentException("There is no option '" + option + "'");
            }
        }
        return new Arguments(scale, help, only, db, out);
    }

    private static String value(String option, Deque<String> left) {
        if (left.isEmpty()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return left.remove();
    }
}
