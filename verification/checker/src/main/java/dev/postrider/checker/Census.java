package dev.postrider.checker;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Counts the changes of rows by kind, next to the changes that the model allows. A change that never happened was not tested by the
 * run.
 */
final class Census {

    private final Model model;
    private final Map<Step, Long> times = new HashMap<>();

    Census(Model model, Tables tables) {
        this.model = model;
        for (int row = 0; row < tables.changes.size(); row++) {
            times.merge(tables.changes.step(row), 1L, Long::sum);
        }
        tables.commandChanges.forEach(change -> times.merge(change.step(), 1L, Long::sum));
    }

    long total() {
        return times.values().stream().mapToLong(Long::longValue).sum();
    }

    /** One line: the number of changes by kind of row, and the model's changes that did not happen. */
    String summary() {
        Map<String, Long> kinds = new TreeMap<>();
        times.forEach((step, count) -> kinds.merge(step.kind(), count, Long::sum));
        List<Step> modelled = model.steps().stream().filter(model::isModelled).toList();
        List<Step> never =
                modelled.stream().filter(step -> !times.containsKey(step)).toList();
        return kinds.entrySet().stream()
                        .map(kind -> kind.getValue() + " " + kind.getKey())
                        .collect(Collectors.joining(", "))
                + "; " + (modelled.size() - never.size()) + " of the model's " + modelled.size() + " ways to change"
                + (never.isEmpty()
                        ? ""
                        : ", never " + never.stream().map(Step::toString).collect(Collectors.joining(", ")));
    }

    /** A table of all changes that the model allows or that happened. */
    List<String> table() {
        Set<Step> steps = new LinkedHashSet<>(model.steps());
        steps.addAll(times.keySet());
        List<String> lines =
                new ArrayList<>(List.of("| row | from | to | by | times | |", "|---|---|---|---|---|---|"));
        for (Step step : steps) {
            Set<String> causes = model.causes(step);
            String remark = causes.isEmpty() ? "NOT ALLOWED" : model.isModelled(step) ? "" : "not in the models";
            lines.add("| " + step.kind() + " | " + step.from() + " | " + step.to() + " | " + String.join(", ", causes)
                    + " | " + times.getOrDefault(step, 0L) + " | " + remark + " |");
        }
        return lines;
    }
}
