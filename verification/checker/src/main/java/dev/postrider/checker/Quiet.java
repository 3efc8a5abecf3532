package dev.postrider.checker;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The quiet times: no fault, no lane of the topic that changed its owner, no isolated delivery of the topic on the worker, and no
 * isolated delivery of any topic on the worker with nothing else in flight.
 */
final class Quiet {

    /** A worker and one of its topics. */
    private record Place(int worker, int topic) {}

    private final Intervals broken;
    private final long after;
    private final Map<Integer, Intervals> lanes = new HashMap<>();
    private final Map<Place, Intervals> suspects = new HashMap<>();
    private final Map<Integer, Intervals> alone = new HashMap<>();

    /** @param after how long after a fault the time is not quiet */
    Quiet(Evidence evidence, long after) {
        History history = evidence.history;
        this.broken = Intervals.of(history.faults, any -> true);
        this.after = after;
        Map<Integer, List<Fault>> changes = new HashMap<>();
        history.laneChanges.forEach(
                change -> of(changes, history.names.of(change.target())).add(change));
        changes.forEach((topic, all) -> lanes.put(topic, Intervals.of(all, any -> true)));
        isolations(evidence);
    }

    private void isolations(Evidence evidence) {
        History history = evidence.history;
        Map<Place, List<Fault>> bySuspects = new HashMap<>();
        Map<Integer, List<Fault>> byWorker = new HashMap<>();
        for (Isolation isolation : history.isolations) {
            int intent = history.intents.last.get(isolation.message());
            int topic = intent < 0 ? -1 : history.intents.topic.get(intent);
            of(bySuspects, new Place(isolation.worker(), topic)).add(during(isolation, isolation.time()));
            if (isolation.isAlone()) {
                of(byWorker, isolation.worker()).add(during(isolation, end(evidence, isolation)));
            }
        }
        bySuspects.forEach((place, all) -> suspects.put(place, Intervals.of(all, any -> true)));
        byWorker.forEach((worker, all) -> alone.put(worker, Intervals.of(all, any -> true)));
    }

    private static Fault during(Isolation isolation, long end) {
        return new Fault("isolated", "", isolation.time(), end);
    }

    /** The time of the message's outcome. A worker may be killed before that, which is a fault of its own. */
    private static long end(Evidence evidence, Isolation isolation) {
        Outcomes outcomes = evidence.history.outcomes;
        return evidence.outcomes()
                .rows(isolation.message())
                .mapToLong(outcomes.time::get)
                .filter(time -> time >= isolation.time())
                .min()
                .orElse(isolation.time());
    }

    private static <K> List<Fault> of(Map<K, List<Fault>> map, K key) {
        return map.computeIfAbsent(key, any -> new ArrayList<>());
    }

    boolean was(int topic, int worker, long begin, long end) {
        return !broken.touch(begin - after, end)
                && !touch(lanes.get(topic), begin, end)
                && !touch(suspects.get(new Place(worker, topic)), begin, end)
                && !touch(alone.get(worker), begin, end);
    }

    private static boolean touch(@Nullable Intervals intervals, long begin, long end) {
        return intervals != null && intervals.touch(begin, end);
    }
}
