package dev.postrider.torture;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of a run. Immutable.
 *
 * @param properties the content of {@code run.properties}
 * @param undrained what was left when the time to drain was over; empty if nothing was left
 * @param deaths processes that ended although no fault acted on them
 * @param verdict the exit status of the checker; null if it did not run
 */
record Summary(
        Path directory,
        Map<String, String> properties,
        Sums sums,
        List<Nemesis.Broken> broken,
        Map<FaultKind, Integer> notDone,
        Map<Long, Integer> perSecond,
        long duplicates,
        String undrained,
        int deaths,
        @Nullable Integer verdict) {

    boolean isDrained() {
        return undrained.isEmpty();
    }

    /** Whether all invariants held and the backlog was drained. A run without a verdict is not good. */
    boolean held() {
        return verdict != null && verdict == 0 && isDrained();
    }
}
