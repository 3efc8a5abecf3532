package dev.postrider.dispatch;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Acquires this node's share of the lanes of each ordered topic, renews their leases, and releases the lanes above the
 * share. The share is computed from the number of nodes that deliver the topic. A lane that has had no owner for a
 * whole lease is acquired beyond the share. A node without ordered topics only announces itself.
 */
final class LaneBalancer {

    /** For how many leases a node keeps lanes beyond its share. */
    private static final int BEYOND_SHARE_LEASES = 5;

    /** A lane that could not be renewed is tried again after this fraction of the usual interval. */
    private static final int UNRENEWED_FRACTION = 10;

    /** Called for each topic whose lanes were acquired, or kept after all, because they may have messages. */
    @FunctionalInterface
    interface LaneListener {
        void lanesToRead(TopicName topic);
    }

    /** Lanes beyond the share, and the number of nodes when they were acquired. */
    private record BeyondShare(int lanes, int nodes, long since) {}

    private final LaneStore store;
    private final DispatchOptions options;
    private final Sequencers sequencers;
    private final LaneStore.Node node;
    private final Platform time;
    private final EventListener events;
    private final LaneListener listener;
    private final Map<Sequencer, BeyondShare> beyondShare = new HashMap<>();
    private long lastUnclaimed;
    private long lastRound;
    private long lastRenewal;

    /** Lanes that could not be renewed because another session has locked their rows. */
    private List<Lane> unrenewed = List.of();

    private boolean announced;
    private volatile boolean stopping;

    LaneBalancer(
            LaneStore store, NodeSettings settings, Sequencers sequencers, Platform platform, LaneListener listener) {
        this.store = store;
        this.options = settings.options();
        this.events = settings.events();
        this.sequencers = sequencers;
        this.node = new LaneStore.Node(platform.id(), options.worker(), settings.topicNames());
        this.time = platform;
        this.listener = listener;
        this.lastUnclaimed = platform.nanos();
        this.lastRound = lastUnclaimed;
        this.lastRenewal = lastUnclaimed;
    }

    /** Renews the leases first, so that no failing or slow step delays the renewal. */
    synchronized Duration runOnce() {
        boolean onlyUnrenewed = !stopping && !unrenewed.isEmpty() && time.nanos() - lastRound < round().toNanos();
        renew(onlyUnrenewed ? unrenewed : List.of());
        if (!onlyUnrenewed) {
            lastRound = time.nanos();
            balance();
        }
        return unrenewed.isEmpty() ? round() : round().dividedBy(UNRENEWED_FRACTION);
    }

    private Duration round() {
        return options.lease().dividedBy(6);
    }

    private void balance() {
        announced = true; // before the call: its response may be lost
        boolean acquires = !stopping;
        Map<TopicName, Integer> alive = store.announce(acquires ? node : node.withoutTopics(), options.lease());
        boolean unclaimed = time.nanos() - lastUnclaimed >= options.lease().toNanos();
        for (Sequencer sequencer : sequencers) {
            if (time.nanos() - lastRenewal >= round().toNanos()) {
                renew(List.of());
            }
            attempt(sequencer, acquires ? () -> balance(sequencer, alive, unclaimed) : () -> release(sequencer));
        }
        if (unclaimed) {
            lastUnclaimed = time.nanos();
        }
    }

    /**
     * Renews lanes. The store omits a lane that another session has locked; it is tried again soon.
     *
     * @param only the lanes to renew; empty for all
     */
    private void renew(Collection<Lane> only) {
        List<Lane> lanes = sequencers.lanes();
        if (!only.isEmpty()) {
            lanes.retainAll(only);
        }
        unrenewed = List.of();
        if (lanes.isEmpty()) {
            return;
        }
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(time);
        lastRenewal = time.nanos();
        Lane.Renewal renewal = store.renew(lanes, options.lease());
        for (Sequencer sequencer : sequencers) {
            for (Lane lane : sequencer.lanes()) {
                if (renewal.renewed().contains(lane)) {
                    sequencer.renewed(lane, asked);
                } else if (renewal.lost().contains(lane)) {
                    sequencer.lose(lane);
                }
            }
        }
        unrenewed = lanes.stream()
                .filter(lane ->
                        !renewal.renewed().contains(lane) && !renewal.lost().contains(lane))
                .toList();
    }

    private void balance(Sequencer sequencer, Map<TopicName, Integer> alive, boolean unclaimed) {
        int all = sequencer.topic().lanes();
        int nodes = alive.getOrDefault(sequencer.topic().name(), 1);
        int fair = (all + nodes - 1) / nodes;
        int share = fair + lanesBeyondShare(sequencer, nodes);
        if (sequencer.limitLanes(share, round())) {
            listener.lanesToRead(sequencer.topic().name());
        }
        release(sequencer);
        int missing = share - sequencer.stayingLanes();
        if (missing > 0) {
            acquire(sequencer, missing, Lane.Supply.FREE);
        } else if (unclaimed && sequencer.stayingLanes() < all) {
            int before = sequencer.stayingLanes(); // more than its share if some lanes could not be released yet
            acquire(sequencer, all - before, Lane.Supply.UNCLAIMED);
            int gained = sequencer.stayingLanes() - before;
            if (gained > 0) {
                beyondShare.put(sequencer, new BeyondShare(share - fair + gained, nodes, time.nanos()));
            }
        }
    }

    /**
     * The number of lanes beyond the share. They are kept for a while, or until a node joins or leaves. Otherwise they
     * would move back and forth.
     */
    private int lanesBeyondShare(Sequencer sequencer, int nodes) {
        BeyondShare current = beyondShare.get(sequencer);
        return current != null
                        && current.nodes() == nodes
                        && time.nanos() - current.since()
                                < options.lease()
                                        .multipliedBy(BEYOND_SHARE_LEASES)
                                        .toNanos()
                ? current.lanes()
                : 0;
    }

    private void acquire(Sequencer sequencer, int most, Lane.Supply supply) {
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(time);
        TopicName topic = sequencer.topic().name();
        List<Lane> lanes = store.acquire(new Lane.Request(topic, options.worker(), most, supply, options.lease()));
        if (!lanes.isEmpty()) {
            lanes.forEach(lane -> sequencer.add(lane, asked));
            events.on(new Event.LanesAcquired(topic, lanes.size(), sequencer.stayingLanes()));
            listener.lanesToRead(topic);
        }
    }

    private void release(Sequencer sequencer) {
        List<Lane> drained = sequencer.removeDrained();
        if (!drained.isEmpty()) {
            store.release(drained);
            events.on(new Event.LanesReleased(sequencer.topic().name(), drained.size(), sequencer.stayingLanes()));
        }
    }

    /** Runs a step for one topic. Its failure must not cost the other topics their lanes. */
    private void attempt(Sequencer sequencer, Runnable step) {
        try {
            step.run();
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            events.on(new Event.StoreFailed(
                    "acquire lanes of " + sequencer.topic().name(),
                    ThrowableClassifier.text(e),
                    options.lease().dividedBy(6)));
        }
    }

    /**
     * Stops acquiring lanes. From the next round on, lanes without messages in flight are released, and the node counts
     * for no topic, so that other nodes acquire its share. Called when the sequencers are closed. Does not wait.
     */
    void stop() {
        stopping = true;
    }

    /**
     * Releases the lanes without messages in flight; the other leases expire. Called when no message is sent any more.
     */
    synchronized void leave() {
        stopping = true;
        sequencers.forEach(this::release);
        if (announced) {
            store.leave(node);
        }
    }
}
