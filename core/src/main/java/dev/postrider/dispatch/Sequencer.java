package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.OrderingKey;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Delivers one ordered topic on this node in order: tracks the lanes of the node, and passes their messages to the
 * pipeline. One message of each key is sent at a time, and the next one when the outcome of the previous one is known.
 * Different keys run concurrently. When a message fails, the later messages of its key join it in the database as
 * blocked messages. Thread-safe.
 */
final class Sequencer {

    /**
     * The largest number of messages in flight over all lanes, and the limits for one lane. It is enough to read and
     * send some messages while the outcomes of others are written, a batch at a time.
     */
    private static final int BUFFER = 4096;

    private static final int LEAST_PER_LANE = 16;
    private static final int MOST_PER_LANE = 256;

    /** A lane that could not be released is tried again after this many times the patience. */
    private static final int REST = 6;

    private final Topic topic;
    private final InFlight inFlight;
    private final BiPredicate<InFlightMessage, LaneOutcome> write;
    private final DeliveryPipeline pipeline;
    private final Platform time;
    private final Duration lastStart;
    private final Map<Integer, OwnedLane> lanes = new TreeMap<>();
    private final Deque<InFlightMessage> ready = new ArrayDeque<>();
    private final Deque<InFlightMessage> suspects = new ArrayDeque<>();
    private final AtomicInteger sending = new AtomicInteger();

    /** The keys of messages that were released during a read, to be read again. */
    private final List<KeyQueue> returned = new ArrayList<>();

    private boolean reading;
    private boolean closed;

    /**
     * @param write takes outcomes, writes them in the order of the calls, and calls {@link #settled} later; false if
     *     the message already has an outcome. It is called under the lock of this object and must not wait.
     * @param lastStart the largest age of a lease at which a delivery may begin
     */
    Sequencer(
            Topic topic,
            InFlight inFlight,
            BiPredicate<InFlightMessage, LaneOutcome> write,
            DeliveryPipeline pipeline,
            Platform time,
            Duration lastStart) {
        this.topic = topic;
        this.inFlight = inFlight;
        this.write = write;
        this.pipeline = pipeline;
        this.time = time;
        this.lastStart = lastStart;
    }

    Topic topic() {
        return topic;
    }

    // Lanes

    synchronized void add(Lane lane, LeaseValidity.Stamp asked) {
        lanes.put(lane.number(), new OwnedLane(lane, new LeaseValidity(asked)));
    }

    synchronized List<Lane> lanes() {
        return lanes.values().stream().map(queue -> queue.lane).toList();
    }

    /** The numbers of the messages in flight of each lane. */
    synchronized Map<Lane, Set<Long>> inFlight() {
        Map<Lane, Set<Long>> numbers = new HashMap<>();
        lanes.values()
                .forEach(queue -> numbers.put(
                        queue.lane,
                        queue.inFlight.stream()
                                .map(claimed -> claimed.claim().seq())
                                .collect(Collectors.toSet())));
        return numbers;
    }

    /** The number of owned lanes that are not leaving. */
    synchronized int kept() {
        return (int) lanes.values().stream().filter(queue -> !queue.isLeaving()).count();
    }

    /**
     * Keeps this many lanes and lets the others leave, or keeps lanes that were leaving. Lanes without messages in
     * flight leave first, then those whose deliveries have run for the shortest time. Unsent messages of a leaving lane
     * are released, so that the lane is free when its running deliveries have ended: otherwise many messages of one key
     * would delay the other keys of the lane. A slow delivery delays them too, so a lane that still has one after the
     * patience is kept for now.
     *
     * @param patience for how long a leaving lane is neither read nor sent
     * @return whether a lane that was not read must be read again
     */
    synchronized boolean keep(int most, Duration patience) {
        Map<OwnedLane, Duration> underWay = new HashMap<>(); // a snapshot: deliveries continue during the sort
        lanes.values().forEach(queue -> underWay.put(queue, queue.longestUnderWay(time)));
        Set<OwnedLane> going = lanes.values().stream()
                .filter(queue -> queue.goesOnLeaving(time, patience)
                        || (!queue.isLeaving() && queue.mayLeave(time, patience.multipliedBy(REST))))
                .sorted(Comparator.comparing(OwnedLane::isLeaving)
                        .reversed()
                        .thenComparing(queue -> !queue.inFlight.isEmpty())
                        .thenComparing(queue -> underWay.getOrDefault(queue, Duration.ZERO))
                        .thenComparing(queue -> -queue.lane.number()))
                .limit(Math.max(lanes.size() - most, 0))
                .collect(Collectors.toSet());
        boolean again = false;
        for (OwnedLane queue : lanes.values()) {
            if (going.contains(queue) && !queue.isLeaving()) {
                queue.leave(time);
                putBack(queue);
            } else if (queue.isLeaving() && !going.contains(queue)) {
                queue.stay(time, patience);
                again = true;
            }
        }
        return again;
    }

    /** Removes and returns the leaving lanes without messages in flight. This node does not read from them any more. */
    synchronized List<Lane> takeDrained() {
        List<Lane> dry = new ArrayList<>();
        lanes.values().removeIf(queue -> {
            boolean isDrained = isDrained(queue);
            if (isDrained) {
                queue.gone = true;
                dry.add(queue.lane);
            }
            return isDrained;
        });
        return dry;
    }

    private boolean isDrained(OwnedLane queue) {
        return (queue.isLeaving() || closed) && queue.inFlight.isEmpty();
    }

    synchronized boolean hasDrained() {
        return lanes.values().stream().anyMatch(this::isDrained);
    }

    synchronized void renewed(Lane lane, LeaseValidity.Stamp asked) {
        OwnedLane queue = lanes.get(lane.number());
        if (queue != null && queue.lane.equals(lane)) {
            queue.validity.renewed(asked);
        }
    }

    /** Removes a lane that another node owns now. Its unsent messages are not sent any more. */
    synchronized void lose(Lane lane) {
        OwnedLane queue = lanes.get(lane.number());
        if (queue != null && queue.lane.equals(lane)) {
            queue.validity.lose();
            queue.gone = true;
            lanes.remove(lane.number());
            putBack(queue);
        }
    }

    private void putBack(OwnedLane queue) {
        queue.lines().forEach(this::release);
        releaseUnsent(claimed -> claimed.claim().lease().equals(queue.lane.lease()));
    }

    private void releaseUnsent(Predicate<InFlightMessage> which) {
        List<InFlightMessage> unsent =
                Stream.concat(ready.stream(), suspects.stream()).filter(which).toList();
        ready.removeAll(unsent);
        suspects.removeAll(unsent);
        unsent.forEach(this::release);
    }

    // Reading

    /** The lanes to read from now, with the number of messages to read from each. */
    synchronized Map<Lane, Integer> room() {
        Map<Lane, Integer> room = new LinkedHashMap<>();
        for (OwnedLane queue : lanes.values()) {
            int free = perLane() - queue.inFlight.size();
            boolean sound =
                    !queue.isLeaving() && queue.validity.sinceRenewal(time).compareTo(lastStart) < 0;
            if (!closed && sound && free > 0) {
                room.put(queue.lane, free);
            }
        }
        return room;
    }

    /**
     * Records the result of a read.
     *
     * @param room the lanes that were read, as {@link #room} returned them; the other lanes were not read
     * @param claims the messages that were read
     * @param isCut whether the limit of bytes ended the read, so that any lane may have more messages
     */
    synchronized void readDone(Map<Lane, Integer> room, Collection<LaneClaim> claims, boolean isCut) {
        Map<Integer, Integer> found = new HashMap<>();
        claims.forEach(claim -> found.merge(claim.lane(), 1, Integer::sum));
        for (OwnedLane queue : lanes.values()) {
            Integer asked = room.get(queue.lane);
            queue.unread = isCut || asked == null || found.getOrDefault(queue.lane.number(), 0) >= asked;
        }
    }

    /** Whether a lane with room may have more messages. */
    synchronized boolean wantsMore() {
        return room().keySet().stream().anyMatch(lane -> {
            OwnedLane queue = lanes.get(lane.number());
            return queue != null && queue.unread;
        });
    }

    synchronized int capacity() {
        return perLane() * Math.max(lanes.size(), 1);
    }

    private int perLane() {
        return Math.max(LEAST_PER_LANE, Math.min(MOST_PER_LANE, BUFFER / Math.max(lanes.size(), 1)));
    }

    /**
     * Begins a read. Until its end no message of a key is sent if another message of that key was released during the
     * read: the read did not return that message, and the messages that it returned may be later ones.
     */
    synchronized void beginRead() {
        reading = true;
    }

    synchronized void endRead() {
        reading = false;
        returned.forEach(line -> line.lane.returned(line));
        returned.clear();
    }

    /** Takes the messages in the order in which they were read, and sends those that can be sent. */
    void offer(Collection<LaneClaim> claims, LeaseValidity.Stamp asked) {
        synchronized (this) {
            for (LaneClaim claim : claims) {
                OwnedLane queue = lanes.get(claim.lane());
                if (queue != null && queue.lane.lease().equals(claim.claim().lease())) {
                    InFlightMessage claimed = InFlightMessage.inLane(topic, claim, queue.validity, asked);
                    inFlight.hold(claimed);
                    place(queue, claimed, claim.place());
                }
            }
        }
        send();
    }

    private void place(OwnedLane queue, InFlightMessage claimed, LaneClaim.Place place) {
        KeyQueue line = queue.key(OrderingKey.of(claimed.claim().message()));
        claimed.line = line;
        line.inHand++;
        queue.inFlight.add(claimed);
        if (closed || queue.isLeaving() || line.returning > 0) {
            line.returning++;
            release(claimed);
        } else if (place == LaneClaim.Place.IN_ORDER && line.blocked) {
            join(line, claimed);
        } else {
            if (place == LaneClaim.Place.IN_BLOCKED_KEY && line.first == null) {
                line.blocked = true; // else an operator has replayed it, and it goes behind those in flight
            }
            enqueue(line, claimed);
        }
    }

    private void enqueue(KeyQueue line, InFlightMessage claimed) {
        if (line.first == null) {
            line.first = claimed;
            (IsolatedDelivery.isSuspect(claimed) ? suspects : ready).add(claimed);
        } else {
            line.behind.add(claimed);
        }
    }

    // Sending

    /**
     * Sends the ready messages. One thread at a time sends; a thread that comes meanwhile leaves its messages to the
     * first. A result that is available at once therefore sends the next message without recursion.
     */
    private void send() {
        if (sending.getAndIncrement() != 0) {
            return;
        }
        int missed = 1;
        do {
            for (InFlightMessage next = nextReady(); next != null; next = nextReady()) {
                pipeline.deliver(next);
            }
            missed = sending.addAndGet(-missed);
        } while (missed != 0);
    }

    private synchronized @Nullable InFlightMessage nextReady() {
        int kept = hasSuspectForASlot() ? 1 : 0; // otherwise a backlog takes every freed slot
        InFlightMessage next = ready.peek();
        if (next == null || !inFlight.tryTakeSlot(next, kept)) {
            return null;
        }
        return ready.remove();
    }

    /**
     * Removes and returns the next suspect, or null. It has its slot, unless it must be alone on the node: then it gets
     * one when nothing else is in flight.
     *
     * @param alone whether a suspect that must be alone is returned too
     */
    synchronized @Nullable InFlightMessage nextSuspect(boolean alone) {
        for (InFlightMessage next : suspects) {
            boolean mustBeAlone = IsolatedDelivery.mustBeAlone(next);
            if (mustBeAlone ? alone : inFlight.tryTakeSlot(next, 0)) {
                suspects.remove(next);
                return next;
            }
        }
        return null;
    }

    private boolean hasSuspectForASlot() {
        return !suspects.isEmpty() && !suspects.stream().allMatch(IsolatedDelivery::mustBeAlone);
    }

    synchronized boolean hasSuspects() {
        return !suspects.isEmpty();
    }

    /** Sends messages that wait for a slot. A message keeps its slot until its outcome is written. */
    void slotsFreed() {
        send();
    }

    // Outcomes

    /**
     * Records the outcome of a message. The outcome, and the outcomes that follow from it for later messages of the
     * key, go to the writer before any other change of the key. A message that joins the key meanwhile is therefore
     * written after them, and the state here follows the order of the writes.
     */
    void decide(InFlightMessage claimed, LaneOutcome outcome) {
        end(claimed, outcome);
        send();
    }

    private synchronized void end(InFlightMessage claimed, LaneOutcome outcome) {
        if (!write.test(claimed, outcome)) {
            return;
        }
        KeyQueue line = lineOf(claimed);
        if (line != null && line.first == claimed && !endsLater(claimed, outcome)) {
            line.first = null;
            goOn(line, claimed, outcome);
        }
    }

    /**
     * Whether the key continues only after the outcome is written. This is the case for a handled head of a blocked
     * key: its row is already gone, and the write makes the next message the head.
     */
    static boolean endsLater(InFlightMessage claimed, LaneOutcome outcome) {
        return outcome instanceof Outcome.Handled && placeOf(claimed) == LaneClaim.Place.IN_BLOCKED_KEY;
    }

    private void goOn(KeyQueue line, InFlightMessage claimed, LaneOutcome outcome) {
        if (outcome instanceof Outcome.Retry || outcome instanceof LaneOutcome.Parked) {
            line.blocked = true;
            join(line);
            release(line);
        } else if (isReturned(outcome)) {
            line.returning++;
            ready.remove(claimed);
            suspects.remove(claimed);
            release(line);
        } else {
            InFlightMessage next = line.behind.poll();
            if (next != null) {
                enqueue(line, next);
            }
        }
    }

    /** Whether the message will be read again. The next read decides which messages the key has, and in which order. */
    private static boolean isReturned(LaneOutcome outcome) {
        return outcome instanceof Outcome.Released || outcome instanceof Outcome.Lost;
    }

    /**
     * Blocks the messages that were read in order behind the head. Messages that already wait in the database stay in
     * the queue.
     */
    private void join(KeyQueue line) {
        line.behind.removeIf(claimed -> {
            boolean inOrder = KeyQueue.isInOrder(claimed);
            if (inOrder) {
                join(line, claimed);
            }
            return inOrder;
        });
    }

    private void join(KeyQueue line, InFlightMessage claimed) {
        line.joining++;
        end(claimed, new LaneOutcome.Blocked(claimed.claim()));
    }

    private void release(KeyQueue line) {
        line.returning += line.behind.size();
        line.behind.forEach(this::release);
        line.behind.clear();
    }

    private void release(InFlightMessage claimed) {
        end(claimed, new Outcome.Released(claimed.claim()));
    }

    /**
     * Processes an outcome that is written, or that was too late.
     *
     * @return whether to scan at once for messages of blocked keys
     */
    boolean settled(InFlightMessage claimed, LaneOutcome outcome, Settlement settlement) {
        KeyQueue line;
        boolean look;
        synchronized (this) {
            line = lineOf(claimed);
            if (line == null) {
                return false;
            }
            line.lane.inFlight.remove(claimed);
            line.inHand--;
            look = settle(line, claimed, outcome, settlement);
            line.lane.forgetIfIdle(line);
        }
        if (settlement instanceof Settlement.LeaseLost lost && !lost.finished()) {
            lose(line.lane.lane);
        }
        if (endsLater(claimed, outcome)) {
            send();
        }
        return look;
    }

    private boolean settle(KeyQueue line, InFlightMessage claimed, LaneOutcome outcome, Settlement settlement) {
        boolean keyBlocked = settlement instanceof Settlement.Settled settled && settled.keyBlocked();
        if (isReturned(outcome) && reading) {
            returned.add(line);
            return true;
        }
        if (isReturned(outcome)) {
            line.lane.returned(line);
            return true;
        }
        if (outcome instanceof LaneOutcome.Blocked) {
            line.joining--;
            return !keyBlocked; // no head was left: the message is the head itself, and due
        }
        if (outcome instanceof Outcome.Retry || outcome instanceof LaneOutcome.Parked) {
            return false;
        }
        if (placeOf(claimed) == LaneClaim.Place.IN_BLOCKED_KEY && !settlement.isLost()) {
            line.blocked = (keyBlocked || line.joining > 0) && !line.hasInOrder();
        }
        if (line.first == claimed) {
            line.first = null;
            goOn(line, claimed, outcome);
        }
        return keyBlocked && line.first == null;
    }

    /** Releases the unsent messages and sends no more. */
    synchronized void close() {
        closed = true;
        putBack();
    }

    /** Releases the unsent messages. Another node can then acquire the lanes. */
    synchronized void putBack() {
        lanes.values().forEach(this::putBack);
    }

    /** Null when this node no longer owns the lane. */
    private static @Nullable KeyQueue lineOf(InFlightMessage claimed) {
        KeyQueue line = claimed.line;
        return line == null || line.lane.gone ? null : line;
    }

    private static LaneClaim.@Nullable Place placeOf(InFlightMessage claimed) {
        LaneClaim inLane = claimed.inLane();
        return inLane == null ? null : inLane.place();
    }
}
