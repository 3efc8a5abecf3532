package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of one ordered topic that this node owns: which of them are read, and which of them leave. Not thread-safe:
 * guarded by the lock of its sequencer.
 */
final class OwnedLanes {

    /**
     * The largest number of messages in flight over all lanes, and the lower limit for one lane. It is enough to read and
     * send some messages while the outcomes of others are written, a batch at a time.
     */
    private static final int BUFFER = 4096;

    private static final int LEAST_PER_LANE = 16;

    /** A lane that could not be released is tried again after this many times the patience. */
    private static final int PAUSE_FACTOR = 6;

    private final LeaseValidity.Limit leaseLimit;
    private final Map<Integer, OwnedLane> lanes = new TreeMap<>();

    OwnedLanes(LeaseValidity.Limit leaseLimit) {
        this.leaseLimit = leaseLimit;
    }

    void add(Lane lane, LeaseValidity.Stamp asked) {
        lanes.put(lane.number(), new OwnedLane(lane, new LeaseValidity(asked)));
    }

    Collection<OwnedLane> all() {
        return lanes.values();
    }

    /** Null when this node does not own the lane under this lease. */
    @Nullable
    OwnedLane find(Lane lane) {
        OwnedLane owned = lanes.get(lane.number());
        return owned != null && owned.lane.equals(lane) ? owned : null;
    }

    /** Null when this node does not own the lane of the message any more. */
    @Nullable
    OwnedLane find(LaneClaim claim) {
        OwnedLane owned = lanes.get(claim.lane());
        return owned != null && owned.lane.lease().equals(claim.claim().lease()) ? owned : null;
    }

    void remove(OwnedLane owned) {
        owned.isOwned = false;
        lanes.remove(owned.lane.number());
    }

    // Leaving

    /** The number of lanes that are not leaving. */
    int staying() {
        return (int) lanes.values().stream().filter(owned -> !owned.isLeaving()).count();
    }

    /**
     * Chooses the lanes that leave, so that this many stay. Lanes without messages in flight leave first, then those
     * whose deliveries have run for the shortest time.
     */
    Set<OwnedLane> chooseLeaving(int most, Duration patience) {
        Platform time = leaseLimit.platform();
        Map<OwnedLane, Duration> deliveries = new HashMap<>(); // a snapshot: deliveries continue during the sort
        lanes.values().forEach(owned -> deliveries.put(owned, owned.longestDelivery(time)));
        return lanes.values().stream()
                .filter(owned -> owned.mayContinueLeaving(time, patience)
                        || (!owned.isLeaving() && owned.mayStartLeaving(time, patience.multipliedBy(PAUSE_FACTOR))))
                .sorted(Comparator.comparing(OwnedLane::isLeaving)
                        .reversed()
                        .thenComparing(owned -> !owned.inFlight.isEmpty())
                        .thenComparing(owned -> deliveries.getOrDefault(owned, Duration.ZERO))
                        .thenComparing(owned -> -owned.lane.number()))
                .limit(Math.max(lanes.size() - most, 0))
                .collect(Collectors.toSet());
    }

    /** Removes and returns the leaving lanes without messages in flight. */
    List<Lane> removeDrained(boolean closed) {
        List<OwnedLane> drained = lanes.values().stream()
                .filter(owned -> isDrained(owned, closed))
                .toList();
        drained.forEach(this::remove);
        return drained.stream().map(owned -> owned.lane).toList();
    }

    boolean hasDrained(boolean closed) {
        return lanes.values().stream().anyMatch(owned -> isDrained(owned, closed));
    }

    private static boolean isDrained(OwnedLane owned, boolean closed) {
        return (owned.isLeaving() || closed) && owned.inFlight.isEmpty();
    }

    // Reading

    /** The lanes to read from now, with the number of messages to read from each. */
    Map<Lane, Integer> freeCapacity() {
        Map<Lane, Integer> free = new LinkedHashMap<>();
        for (OwnedLane owned : lanes.values()) {
            int messages = perLane() - owned.inFlight.size();
            if (!owned.isLeaving() && leaseLimit.allowsStart(owned.validity) && messages > 0) {
                free.put(owned.lane, messages);
            }
        }
        return free;
    }

    int capacity() {
        return perLane() * Math.max(lanes.size(), 1);
    }

    private int perLane() {
        return Math.max(LEAST_PER_LANE, Math.min(Lane.MOST_IN_FLIGHT, BUFFER / Math.max(lanes.size(), 1)));
    }

    /** Records for each lane whether it may have more messages after a read of these lanes. */
    void readDone(Map<Lane, Integer> asked, Collection<LaneClaim> claims, boolean isCut) {
        Map<Integer, Integer> found = new HashMap<>();
        claims.forEach(claim -> found.merge(claim.lane(), 1, Integer::sum));
        for (OwnedLane owned : lanes.values()) {
            Integer most = asked.get(owned.lane);
            owned.unread = isCut || most == null || found.getOrDefault(owned.lane.number(), 0) >= most;
        }
    }

    /** Whether a lane with free capacity may have more messages. */
    boolean hasUnread() {
        List<OwnedLane> readable = new ArrayList<>();
        freeCapacity().keySet().forEach(lane -> readable.add(lanes.get(lane.number())));
        return readable.stream().anyMatch(owned -> owned.unread);
    }
}
