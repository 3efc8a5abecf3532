package dev.postrider.dispatch;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
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
 * Takes this node's share of the lanes of each ordered topic, keeps them, and gives up what is above the share. The share is
 * counted over the nodes that deliver the topic; a lane that nobody has taken for a whole lease is taken beyond it.
 */
final class LaneKeeper {

    /** For how many leases a node keeps what nobody else has taken. */
    private static final int EXTRA_LEASES = 5;

    /** Lanes beyond the share, taken when there were so many nodes. */
    private record Extra(int lanes, int nodes, long since) {}

    private final LaneStore store;
    private final DispatchOptions options;
    private final Collection<Sequencer> sequencers;
    private final LaneStore.Node node;
    private final Time time;
    private final EventListener events;
    private final Consumer<TopicName> taken;
    private final Map<Sequencer, Extra> extras = new HashMap<>();
    private long lastLeftOver;
    private boolean stopping;

    /** @param taken told of each topic that lanes were taken of, since there may be something in them */
    LaneKeeper(
            LaneStore store,
            DispatchOptions options,
            Map<TopicName, Sequencer> sequencers,
            Surroundings surroundings,
            EventListener events,
            Consumer<TopicName> taken) {
        this.store = store;
        this.options = options;
        this.sequencers = List.copyOf(sequencers.values());
        this.node = new LaneStore.Node(surroundings.id(), options.worker(), Set.copyOf(sequencers.keySet()));
        this.time = surroundings;
        this.events = events;
        this.taken = taken;
        this.lastLeftOver = surroundings.nanos();
    }

    synchronized Duration runOnce() {
        Map<TopicName, Integer> alive = store.announce(node, options.lease());
        renew();
        boolean leftOver = time.nanos() - lastLeftOver >= options.lease().toNanos();
        for (Sequencer sequencer : sequencers) {
            attempt(sequencer, () -> balance(sequencer, alive, leftOver));
        }
        if (leftOver) {
            lastLeftOver = time.nanos();
        }
        return options.lease().dividedBy(6);
    }

    private void renew() {
        List<Lane> lanes = new ArrayList<>();
        sequencers.forEach(sequencer -> lanes.addAll(sequencer.lanes()));
        if (lanes.isEmpty()) {
            return;
        }
        Tenure.Stamp asked = Tenure.Stamp.now(time);
        Set<Lane> kept = store.renew(lanes, options.lease());
        for (Sequencer sequencer : sequencers) {
            for (Lane lane : sequencer.lanes()) {
                if (kept.contains(lane)) {
                    sequencer.renewed(lane, asked);
                } else if (lanes.contains(lane)) {
                    sequencer.lose(lane);
                }
            }
        }
    }

    private void balance(Sequencer sequencer, Map<TopicName, Integer> alive, boolean leftOver) {
        int all = sequencer.topic().lanes();
        int nodes = alive.getOrDefault(sequencer.topic().name(), 1);
        int fair = (all + nodes - 1) / nodes;
        int share = fair + extra(sequencer, nodes);
        sequencer.keep(share);
        release(sequencer);
        int missing = share - sequencer.kept();
        if (!stopping && missing > 0) {
            acquire(sequencer, missing, Lane.Supply.FREE);
        } else if (!stopping && leftOver && sequencer.kept() < all) {
            acquire(sequencer, all - sequencer.kept(), Lane.Supply.LEFT_OVER);
            if (sequencer.kept() > share) {
                extras.put(sequencer, new Extra(sequencer.kept() - fair, nodes, time.nanos()));
            }
        }
    }

    /** What nobody else wanted is kept for a while, or until a node joins or leaves: otherwise it would go to and fro. */
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
        Tenure.Stamp asked = Tenure.Stamp.now(time);
        TopicName topic = sequencer.topic().name();
        List<Lane> lanes = store.acquire(new Lane.Request(topic, options.worker(), most, supply, options.lease()));
        if (!lanes.isEmpty()) {
            lanes.forEach(lane -> sequencer.add(lane, asked));
            events.on(new Event.LanesTaken(topic, lanes.size(), sequencer.kept()));
            taken.accept(topic);
        }
    }

    private void release(Sequencer sequencer) {
        List<Lane> dry = sequencer.takeDry();
        if (!dry.isEmpty()) {
            store.release(dry);
            events.on(new Event.LanesReleased(sequencer.topic().name(), dry.size(), sequencer.kept()));
        }
    }

    /** A topic that gives trouble must not cost the others their lanes. */
    private void attempt(Sequencer sequencer, Runnable step) {
        try {
            step.run();
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            events.on(new Event.StoreFailed(
                    "take lanes of " + sequencer.topic().name(),
                    Failures.text(e),
                    options.lease().dividedBy(6)));
        }
    }

    /** Gives back the lanes of which nothing is in hand; the others run out. To be called when nothing is sent any more. */
    synchronized void leave() {
        stopping = true;
        sequencers.forEach(this::release);
        store.leave(node);
    }
}
