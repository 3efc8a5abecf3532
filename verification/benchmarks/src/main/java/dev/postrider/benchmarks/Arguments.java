package dev.postrider.benchmarks;

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
        boolean quick,
        boolean help,
        Set<String> only,
        @Nullable String db,
        Path out) {

    static final String USAGE = """
            Usage: postrider bench [--quick] [--only NAME,...] [--db URL] [--out DIR]

            Measures Postrider beside its peers and beside hand-written JDBC, and writes the figures.

              --quick          under five minutes instead of most of an hour
              --only NAME,...  only the measurements that make these figures
              --db URL         a PostgreSQL of yours, as jdbc:postgresql://host/database?user=...&password=...; tables are
                               created in it and emptied. Without it one is started, with durable settings.
              --out DIR        where report.json and report.md go; benchmarks/target/report unless said otherwise
            """;

    /** @throws IllegalArgumentException with the reason, if an argument is not valid */
    static Arguments parse(List<String> arguments, Path defaultOut) {
        boolean quick = false;
        boolean help = false;
        Set<String> only = new LinkedHashSet<>();
        String db = null;
        Path out = defaultOut;
        Deque<String> left = new ArrayDeque<>(arguments);
        while (!left.isEmpty()) {
            String option = left.remove();
            switch (option) {
                case "--quick" -> quick = true;
                case "--help", "-h" -> help = true;
                case "--only" -> only.addAll(Arrays.asList(value(option, left).split(",")));
                case "--db" -> db = value(option, left);
                case "--out" -> out = Path.of(value(option, left));
                default -> throw new IllegalArgumentException("There is no option '" + option + "'");
            }
        }
        return new Arguments(quick, help, only, db, out);
    }

    private static String value(String option, Deque<String> left) {
        if (left.isEmpty()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return left.remove();
    }
}
