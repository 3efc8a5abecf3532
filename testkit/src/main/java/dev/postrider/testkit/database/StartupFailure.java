package dev.postrider.testkit.database;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Turns the output of a server that failed to start into a reason and a fix. */
final class StartupFailure {

    private static final Pattern MISSING_LIBRARY =
            Pattern.compile("error while loading shared libraries: (?:\\S*/)?([^/:\\s]+)");
    private static final int LINES_TO_QUOTE = 5;

    private StartupFailure() {}

    static DatabaseUnavailableException explain(Engine engine, String whatHappened, String output) {
        Matcher missing = MISSING_LIBRARY.matcher(output);
        if (missing.find()) {
            String library = missing.group(1);
            return new DatabaseUnavailableException(engine, library + " is missing", installing(library));
        }
        return new DatabaseUnavailableException(
                engine, whatHappened + lastLines(output), "fix the reported problem, or run without this engine");
    }

    private static String installing(String library) {
        return library.startsWith("libaio.")
                ? "apt-get install libaio1"
                : "install the package of your system that contains it";
    }

    private static String lastLines(String output) {
        List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
        List<String> last = lines.subList(Math.max(0, lines.size() - LINES_TO_QUOTE), lines.size());
        return last.isEmpty() ? ", saying nothing" : ", saying: " + String.join(" | ", last);
    }
}
