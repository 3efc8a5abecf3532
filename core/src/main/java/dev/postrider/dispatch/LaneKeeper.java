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
 * counted over the nodes that deliver the topic; a lane that nobody has taken for a whole lease is taken beyond it. A node without
 * ordered topics only announces itself.
 */
final class LaneKeeper {

    /** For how many leases a node keeps what nobody else has taken. */
    private static final int EXTRA_LEASES = 5;

    /** A lane that could not be renewed is tried again after such a part of the usual time. */
    private static final int SOON = 10;

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
    private long lastRound;
    private long lastRenewal;

    /** Lanes that could not be renewed because another session has locked them. */
    private List<Lane> late = List.of();

    private boolean announced;
    private boolean stopping;

    /**
     * @param delivered all topics that this node delivers, for others to see; the unordered ones among them have no sequencer
     * @param taken told of each topic that lanes were taken of, since there may be something in them
     */
    LaneKeeper(
            LaneStore store,
            DispatchOptions options,
            Set<TopicName> delivered,
            Map<TopicName, Sequencer> sequencers,
            Surroundings surroundings,
            EventListener events,
            Consumer<TopicName> taken) {
        this.store = store;
        this.options = options;
        this.sequencers = List.copyOf(sequencers.values());
        this.node = new LaneStore.Node(surroundings.id(), options.worker(), Set.copyOf(delivered));
        this.time = surroundings;
        this.events = events;
        this.taken = taken;
        this.lastLeftOver = surroundings.nanos();
        this.lastRound = lastLeftOver;
        this.lastRenewal = lastLeftOver;
    }

    /** Renews first: nothing else that fails, or takes its time, keeps the leases from being renewed. */
    synchronized Duration runOnce() {
        boolean onlyLate = !late.isEmpty() && time.nanos() - lastRound < round().toNanos();
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
        announced = true; // also if the answer is lost
        Map<TopicName, Integer> alive = store.announce(node, options.lease());
        boolean leftOver = time.nanos() - lastLeftOver >= options.lease().toNanos();
        for (Sequencer sequencer : sequencers) {
            if (time.nanos() - lastRenewal >= round().toNanos()) {
                renew(List.of());
            }
            attempt(sequencer, () -> balance(sequencer, alive, leftOver));
        }
        if (leftOver) {
            lastLeftOver = time.nanos();
        }
    }

    /**
     * A lane that another session has locked is left out by the store, and tried again soon.
     *
     * @param only which lanes; all of them if there are none
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
        Tenure.Stamp asked = Tenure.Stamp.now(time);
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
        if (announced) {
            store.leave(node);
        }
    }
}
