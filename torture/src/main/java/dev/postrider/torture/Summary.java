package dev.postrider.torture;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a run went. Immutable.
 *
 * @param properties what is in {@code run.properties}
 * @param undrained what was left when the time to drain was over; empty if nothing was
 * @param deaths processes that ended although nobody did anything to them
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

    /** Nothing is called good that nobody has judged. */
    boolean held() {
        return verdict != null && verdict == 0 && isDrained();
    }
}
