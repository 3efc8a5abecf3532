package dev.postrider.torture;

import dev.postrider.testkit.database.Engine;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of the command.
 *
 * @param seconds how long messages are written and faults are injected; startup and draining take additional time
 * @param messages how many messages are to be committed in that time
 * @param directory the directory for the evidence
 * @param faults the kinds of fault to inject; in a run without faults the receiver also accepts every message except poison
 * @param trouble whether handlers and destinations of some topics misbehave
 * @param mutant the name of the mutant that is applied to Postrider; null for Postrider as it is
 */
record Arguments(
        boolean help,
        int seconds,
        long seed,
        Engine engine,
        long messages,
        Path directory,
        Set<FaultKind> faults,
        boolean trouble,
        @Nullable String mutant) {

    static final String USAGE = """
            Usage: postrider torture [--minutes N] [--seed S] [--engine postgresql|mariadb|mysql] [--messages M] [--directory D]
                                     [--only FAULT,…] [--no-faults] [--no-trouble] [--mutant NAME]

            Writes and delivers messages while processes are killed, the database crashes and connections break, and has the
            journals judged. Ends with 0 only if everything held.

              --minutes N      for how long, 3 unless said otherwise; 0.5 is half a minute
              --seed S         what is broken when, and what is written; printed, and chosen by the clock unless said otherwise
              --engine E       postgresql unless said otherwise
              --messages M     how many are committed, 1000 for each second of the time unless said otherwise
              --directory D    where the journals and the report go; a new one below verification/torture/target/runs unless said otherwise
              --only FAULT,…   only these are broken, as often as usual: kill-worker,crash-database for instance
              --no-faults      nothing is broken: there must be no duplicates at all
              --no-trouble     no topic has handlers that hang or a destination that blocks
              --mutant NAME    Postrider with this fault put into it, to see whether it is noticed; docs/checker.md has them
            """;

    /** @throws IllegalArgumentException with the reason, if an argument is not valid */
    static Arguments parse(List<String> arguments, Path runs, long seedOfTheDay) {
        boolean help = false;
        double minutes = 3;
        long seed = seedOfTheDay;
        Engine engine = Engine.POSTGRESQL_18;
        long messages = -1;
        Path directory = null;
        Set<FaultKind> only = null;
        boolean trouble = true;
        String mutant = null;
        Deque<String> left = new ArrayDeque<>(arguments);
        while (!left.isEmpty()) {
            String option = left.remove();
            switch (option) {
                case "--help", "-h" -> help = true;
                case "--minutes" -> minutes = number(option, left, Double::parseDouble);
                case "--seed" -> seed = number(option, left, Long::parseLong);
                case "--engine" -> engine = engine(value(option, left));
                case "--messages" -> messages = number(option, left, Long::parseLong);
                case "--directory" -> directory = Path.of(value(option, left));
                case "--only" -> only = faults(value(option, left));
                case "--no-faults" -> only = Set.of();
                case "--no-trouble" -> trouble = false;
                case "--mutant" -> mutant = value(option, left);
                default -> throw new IllegalArgumentException("There is no option '" + option + "'");
            }
        }
        Set<FaultKind> faults = only == null ? FaultKind.of(engine) : only;
        if (!FaultKind.of(engine).containsAll(faults)) {
            throw new IllegalArgumentException("With " + name(engine) + " there is no "
                    + FaultKind.PROMOTE_STANDBY.word() + "; take --engine postgresql");
        }
        int seconds = (int) Math.round(minutes * 60);
        if (seconds < 10 || seconds > 24 * 3600) {
            throw new IllegalArgumentException("--minutes must be a sixth of one to those of a day");
        }
        return new Arguments(
                help,
                seconds,
                seed,
                engine,
                messages > 0 ? messages : 1000L * seconds,
                directory == null ? runs.resolve(name(engine) + "-" + seed) : directory,
                faults,
                trouble,
                mutant);
    }

    private static Set<FaultKind> faults(String names) {
        Map<String, FaultKind> known =
                Arrays.stream(FaultKind.values()).collect(Collectors.toMap(FaultKind::word, kind -> kind));
        Set<FaultKind> kinds = EnumSet.noneOf(FaultKind.class);
        for (String name : names.split(",")) {
            FaultKind kind = known.get(name);
            if (kind == null) {
                throw new IllegalArgumentException("There is no fault '" + name + "'; there are "
                        + String.join(", ", new TreeSet<>(known.keySet())));
            }
            kinds.add(kind);
        }
        return kinds;
    }

    /** The name of an engine in arguments and in the evidence. */
    static String name(Engine engine) {
        return switch (engine) {
            case MARIADB_11_4 -> "mariadb";
            case MYSQL_8_0 -> "mysql";
            default -> "postgresql";
        };
    }

    private static Engine engine(String name) {
        return switch (name) {
            case "postgresql" -> Engine.POSTGRESQL_18;
            case "mariadb" -> Engine.MARIADB_11_4;
            case "mysql" -> Engine.MYSQL_8_0;
            default ->
                throw new IllegalArgumentException(
                        "There is no engine '" + name + "'; there are postgresql, mariadb and mysql");
        };
    }

    private static <T extends Number> T number(String option, Deque<String> left, Function<String, T> parse) {
        String value = value(option, left);
        try {
            return parse.apply(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(option + " needs a number, not '" + value + "'", e);
        }
    }

    private static String value(String option, Deque<String> left) {
        if (left.isEmpty()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return left.remove();
    }
}
