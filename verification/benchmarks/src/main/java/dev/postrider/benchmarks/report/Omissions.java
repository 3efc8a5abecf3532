package dev.postrider.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What the run did not measure, and why: a report that leaves something out says so. */
final class Omissions {

    private Omissions() {}

    static List<String> of(Report report) {
        List<String> lines = new ArrayList<>();
        report.failed().forEach((names, reason) -> lines.add("**Failed**: `" + names + "`: " + reason));
        report.unavailable().forEach((names, reason) -> lines.add("Not measured: `" + names + "`: " + reason));
        if (!report.leftOut().isEmpty()) {
            lines.add(report.leftOut().stream()
                    .map(name -> "`" + name + "`")
                    .collect(Collectors.joining(", ", "Not part of this run, unless asked for by name: ", "")));
        }
        return lines;
    }
}
