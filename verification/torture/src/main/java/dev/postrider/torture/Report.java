package dev.postrider.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The report of a run: its parameters, its faults, its counts and the verdicts. As Markdown and as HTML. */
final class Report {

    private static final int EXAMPLES = 5;

    private final Summary summary;

    Report(Summary summary) {
        this.summary = summary;
    }

    /** @return the files */
    List<Path> write() throws IOException {
        Path markdown = summary.directory().resolve("report.md");
        Path html = summary.directory().resolve("report.html");
        Files.writeString(markdown, text() + details());
        Files.writeString(html, new Page(text() + details(), new Chart(summary).svg()).html());
        return List.of(markdown, html);
    }

    /** The head of the report. It is also printed. */
    String text() {
        Map<String, String> properties = summary.properties();
        Sums sums = summary.sums();
        StringBuilder text = new StringBuilder("# Torture run\n\n");
        text.append("**").append(verdict()).append("**\n\n");
        text.append("| | |\n|---|---|\n");
        row(text, "database", properties.get("engine") + " " + properties.get("engineVersion"));
        row(text, "seed", properties.get("seed"));
        row(text, "commit", properties.get("commit"));
        row(text, "mutant", properties.get("mutant"));
        row(text, "Java", properties.get("java"));
        row(text, "load and faults", properties.get("seconds") + " s");
        row(text, "drained", drained(properties));
        row(text, "messages committed", sums.committed());
        row(text, "of these with an idempotency key used before", sums.repeated());
        row(text, "different messages received", sums.received());
        row(text, "dead letters that never came in", sums.dead());
        row(text, "received again after they had been accepted", summary.duplicates());
        row(text, "missing", sums.missing().size());
        row(text, "never committed, and received", sums.phantoms().size());
        row(text, "out of order", sums.disorders().size());
        row(text, "faults", summary.broken().size());
        row(text, "processes that ended by themselves", summary.deaths());
        row(text, "processes that did not stop in the end", properties.get("notStopped"));
        return text.toString();
    }

    private String verdict() {
        if (summary.verdict() == null) {
            return "Not judged: there was no checker";
        }
        return summary.held() ? "Everything held" : "VIOLATED";
    }

    private String drained(Map<String, String> properties) {
        String limit = " of at most " + properties.get("drainLimitMillis") + " ms";
        return summary.isDrained()
                ? "after " + properties.get("drainedAfterMillis") + " ms" + limit
                : "NOT" + limit + ": " + summary.undrained();
    }

    private String details() throws IOException {
        StringBuilder text = new StringBuilder("\n## What was broken\n\n");
        text.append("| fault | times | could not be done at its time |\n|---|---|---|\n");
        for (FaultKind kind : FaultKind.values()) {
            long times = summary.broken().stream()
                    .filter(broken -> broken.kind() == kind)
                    .count();
            int notDone = summary.notDone().getOrDefault(kind, 0);
            String why = (kind == FaultKind.CLOCK_SKEW || kind == FaultKind.CLOCK_STEP)
                            && WrongClock.library().isEmpty()
                    ? "not run: libfaketime is not installed"
                    : Integer.toString(notDone);
            text.append("| ").append(kind.word()).append(" | ").append(times).append(" | ");
            text.append(why).append(" |\n");
        }
        examples(text, "Missing", summary.sums().missing());
        examples(text, "Never committed, and received", summary.sums().phantoms());
        examples(text, "Out of order", summary.sums().disorders());
        include(text, "Verdict", "verdict.md");
        include(text, "Recovery", "recovery.md");
        include(text, "Changes of state", "transitions.md");
        text.append("\n## All of it\n\n| | |\n|---|---|\n");
        new TreeMap<>(summary.properties()).forEach((name, value) -> row(text, name, value));
        return text.toString();
    }

    private static void examples(StringBuilder text, String title, List<String> all) {
        if (!all.isEmpty()) {
            text.append("\n## ").append(title).append("\n\n");
            List<String> first = new ArrayList<>(all.subList(0, Math.min(EXAMPLES, all.size())));
            first.forEach(each -> text.append("- ").append(each).append('\n'));
        }
    }

    private void include(StringBuilder text, String title, String name) throws IOException {
        Path file = summary.directory().resolve(name);
        if (Files.exists(file)) {
            text.append("\n## ")
                    .append(title)
                    .append("\n\n")
                    .append(Files.readString(file).strip())
                    .append('\n');
        }
    }

    private static void row(StringBuilder text, String name, @Nullable Object value) {
        text.append("| ").append(name).append(" | ").append(value).append(" |\n");
    }
}
