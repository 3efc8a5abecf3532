package dev.postrider.checker;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** When nothing was broken, no lane changed hands and nothing was delivered alone. */
final class Quiet {

    private final Intervals broken;
    private final long after;
    private final Map<Integer, Intervals> lanes;
    private final Map<Integer, Intervals> solitudes;

    /** @param after for how long it is not quiet after a fault */
    Quiet(History history, long after) {
        this.broken = Intervals.of(history.faults, any -> true);
        this.after = after;
        this.lanes = byTarget(history, history.laneChanges);
        this.solitudes = byTarget(history, history.solitudes);
    }

    private static Map<Integer, Intervals> byTarget(History history, List<Fault> all) {
        Map<Integer, Intervals> byTarget = new HashMap<>();
        for (Fault one : all) {
            byTarget.computeIfAbsent(
                    history.names.of(one.target()),
                    any -> Intervals.of(all, other -> other.target().equals(one.target())));
        }
        return byTarget;
    }

    boolean was(int topic, int worker, long begin, long end) {
        return !broken.touch(begin - after, end)
                && !touch(lanes.get(topic), begin, end)
                && !touch(solitudes.get(worker), begin, end);
    }

    private static boolean touch(@Nullable Intervals intervals, long begin, long end) {
        return intervals != null && intervals.touch(begin, end);
    }
}
