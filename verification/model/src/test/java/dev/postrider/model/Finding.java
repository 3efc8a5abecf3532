package dev.postrider.model;

import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What TLC said of a model.
 *
 * @param isComplete whether it has looked at every state there is, and found nothing
 * @param violated the property that does not hold; null if there is none
 * @param distinct how many different states it has met
 * @param generated how many it has met, those it had met before counted again
 * @param transitions the changes of rows that it has met, as far as they were noted: from, to, by what
 * @param output all that it said, with the steps that lead to a violation
 */
record Finding(
        boolean isComplete,
        @Nullable String violated,
        long distinct,
        long generated,
        Set<String> transitions,
        double seconds,
        Path output) {

    private static final int NOTHING_FOUND = 0;
    private static final int DEAD_END = 11;
    private static final int TEMPORAL_VIOLATION = 13;

    private static final String COMPLETED = "Model checking completed. No error has been found.";
    private static final Pattern COUNTS = Pattern.compile(
            "(?m)^(\\d+) states generated, (\\d+) distinct states found, (\\d+) states left on queue\\.");
    private static final Pattern VIOLATED =
            Pattern.compile("(?m)^Error: (?:Invariant|Action property) (\\w+) is violated");
    private static final Pattern TEMPORAL = Pattern.compile("(?m)^Error: Temporal properties were violated");
    private static final Pattern DEADLOCK = Pattern.compile("(?m)^Error: Deadlock reached");
    private static final Pattern TRANSITION =
            Pattern.compile("(?m)^<<\"transition\", <<\"([^\"]+)\", \"([^\"]+)\", \"([^\"]+)\">>>>");

    /** @param temporal the one property of the end that was asked, if any: TLC does not name it, and a run that stops violates it */
    static Finding of(int exit, String said, String temporal, double seconds, Path output) {
        Matcher counts = COUNTS.matcher(said);
        boolean counted = counts.find();
        return new Finding(
                exit == NOTHING_FOUND
                        && said.contains(COMPLETED)
                        && counted
                        && counts.group(3).equals("0"),
                violated(exit, said, temporal),
                counted ? Long.parseLong(counts.group(2)) : 0,
                counted ? Long.parseLong(counts.group(1)) : 0,
                transitions(said),
                seconds,
                output);
    }

    private static @Nullable String violated(int exit, String said, String temporal) {
        Matcher violated = VIOLATED.matcher(said);
        if (violated.find()) {
            return violated.group(1);
        }
        boolean stops = exit == DEAD_END && DEADLOCK.matcher(said).find();
        boolean circles = exit == TEMPORAL_VIOLATION && TEMPORAL.matcher(said).find();
        return stops || circles ? temporal : null;
    }

    private static Set<String> transitions(String said) {
        Set<String> transitions = new TreeSet<>();
        Matcher transition = TRANSITION.matcher(said);
        while (transition.find()) {
            transitions.add(transition.group(1) + " " + transition.group(2) + " " + transition.group(3));
        }
        return transitions;
    }
}
