package dev.postrider.dispatch;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.message.TopicName;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Acquires this node's share of the lanes of each ordered topic, renews their leases, and releases the lanes above the
 * share. The share is computed from the number of nodes that deliver the topic. A lane that has had no owner for a
 * whole lease is acquired beyond the share. A node without ordered topics only announces itself.
 */
final class LaneBalancer {

    /** For how many leases a node keeps lanes beyond its share. */
    private static final int EXTRA_LEASES = 5;

    /** A lane that could not be renewed is tried again after this fraction of the usual interval. */
    private static final int SOON = 10;

    /** Lanes beyond the share, and the number of nodes when they were acquired. */
    private record Extra(int lanes, int nodes, long since) {}

    private final LaneStore store;
    private final DispatchOptions options;
    private final Collection<Sequencer> sequencers;
    private final LaneStore.Node node;
    private final Platform time;
    private final EventListener events;
    private final Consumer<TopicName> taken;
    private final Map<Sequencer, Extra> extras = new HashMap<>();
    private long lastLeftOver;
    private long lastRound;
    private long lastRenewal;

    /** Lanes that could not be renewed because another session has locked their rows. */
    private List<Lane> late = List.of();

    private boolean announced;
    private volatile boolean stopping;

    /**
     * @param delivered all topics that this node delivers, announced to the other nodes; the unordered ones have no
     *     sequencer
     * @param taken called for each topic whose lanes were acquired, or kept after all, because they may have messages
     */
    LaneBalancer(
            LaneStore store,
            DispatchOptions options,
            Set<TopicName> delivered,
            Map<TopicName, Sequencer> sequencers,
            Platform platform,
            EventListener events,
            Consumer<TopicName> taken) {
        this.store = store;
        this.options = options;
        this.sequencers = List.copyOf(sequencers.values());
        this.node = new LaneStore.Node(platform.id(), options.worker(), delivered);
        this.time = platform;
        this.events = events;
        this.taken = taken;
        this.lastLeftOver = platform.nanos();
        this.lastRound = lastLeftOver;
        this.lastRenewal = lastLeftOver;
    }

    /** Renews the leases first, so that no failing or slow step delays the renewal. */
    synchronized Duration runOnce() {
        boolean onlyLate = !stopping && !late.isEmpty() && time.nanos() - lastRound < round().toNanos();
        renew(onlyLate ? late : List.of());
        if (!onlyLate) {
            lastRound = time.nanos();
            balance();
        }
        return late.isEmpty() ? round() : round().dividedBy(SOON);
    }

    private Duration round() {
        return options.lease().dividedBy(6);
    }

    private void balance() {
        announced = true; // before the call: its response may be lost
        boolean takes = !stopping;
        Map<TopicName, Integer> alive = store.announce(takes ? node : node.withoutTopics(), options.lease());
        boolean leftOver = time.nanos() - lastLeftOver >= options.lease().toNanos();
        for (Sequencer sequencer : sequencers) {
            if (time.nanos() - lastRenewal >= round().toNanos()) {
                renew(List.of());
            }
            attempt(sequencer, takes ? () -> balance(sequencer, alive, leftOver) : () -> release(sequencer));
        }
        if (leftOver) {
            lastLeftOver = time.nanos();
        }
    }

    /**
     * Renews lanes. The store omits a lane that another session has locked; it is tried again soon.
     *
     * @param only the lanes to renew; empty for all
     */
    private void renew(Collection<Lane> only) {
        List<Lane> lanes = new ArrayList<>();
        sequencers.forEach(sequencer -> lanes.addAll(sequencer.lanes()));
        if (!only.isEmpty()) {
            lanes.retainAll(only);
        }
        late = List.of();
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
        late = lanes.stream()
                .filter(lane ->
                        !renewal.renewed().contains(lane) && !renewal.lost().contains(lane))
                .toList();
    }

    private void balance(Sequencer sequencer, Map<TopicName, Integer> alive, boolean leftOver) {
        int all = sequencer.topic().lanes();
        int nodes = alive.getOrDefault(sequencer.topic().name(), 1);
        int fair = (all + nodes - 1) / nodes;
        int share = fair + extra(sequencer, nodes);
        if (sequencer.keep(share, round())) {
            taken.accept(sequencer.topic().name());
        }
        release(sequencer);
        int missing = share - sequencer.kept();
        if (missing > 0) {
            acquire(sequencer, missing, Lane.Supply.FREE);
        } else if (leftOver && sequencer.kept() < all) {
            int before = sequencer.kept(); // more than its share if some lanes could not be released yet
            acquire(sequencer, all - before, Lane.Supply.UNCLAIMED);
            int gained = sequencer.kept() - before;
            if (gained > 0) {
                extras.put(sequencer, new Extra(share - fair + gained, nodes, time.nanos()));
            }
        }
    }

    /**
     * The number of lanes beyond the share. They are kept for a while, or until a node joins or leaves. Otherwise they
     * would move back and forth.
     */
    private int extra(Sequencer sequencer, int nodes) {
        Extra extra = extras.get(sequencer);
        return extra != null
                        && extra.nodes() == nodes
                        && time.nanos() - extra.since()
                                < options.lease().multipliedBy(EXTRA_LEASES).toNanos()
                ? extra.lanes()
                : 0;
    }

    private void acquire(Sequencer sequencer, int most, Lane.Supply supply) {
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(time);
        TopicName topic = sequencer.topic().name();
        List<Lane> lanes = store.acquire(new Lane.Request(topic, options.worker(), most, supply, options.lease()));
        if (!lanes.isEmpty()) {
            lanes.forEach(lane -> sequencer.add(lane, asked));
            events.on(new Event.LanesAcquired(topic, lanes.size(), sequencer.kept()));
            taken.accept(topic);
        }
    }

    private void release(Sequencer sequencer) {
        List<Lane> dry = sequencer.takeDrained();
        if (!dry.isEmpty()) {
            store.release(dry);
            events.on(new Event.LanesReleased(sequencer.topic().name(), dry.size(), sequencer.kept()));
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
