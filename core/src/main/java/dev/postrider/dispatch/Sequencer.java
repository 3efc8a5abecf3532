package dev.postrider.dispatch;

import dev.postrider.dispatch.OwnedLane.KeyQueue;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Delivers one ordered topic on this node in order: tracks the lanes of the node, and passes their messages to the
 * pipeline. One message of each key is sent at a time, and the next one when the outcome of the previous one is known.
 * Different keys run concurrently. When a message fails, the later messages of its key are blocked: they wait behind it
 * in the database. Thread-safe.
 */
final class Sequencer {

    /** Takes the outcomes of lanes, and writes those of a lane in the order of the calls. */
    @FunctionalInterface
    interface Writer {

        /**
         * Takes an outcome, and calls {@link Sequencer#settled} when it is written. Called under the lock of the
         * sequencer; must not wait.
         *
         * @return false if the message already has an outcome
         */
        boolean add(InFlightMessage message, LaneOutcome outcome);
    }

    private final Topic topic;
    private final InFlight inFlight;
    private final Writer writer;
    private final DeliveryPipeline pipeline;
    private final LeaseValidity.Limit leaseLimit;
    private final OwnedLanes lanes;
    private final Deque<InFlightMessage> ready = new ArrayDeque<>();
    private final Deque<InFlightMessage> suspects = new ArrayDeque<>();
    private final AtomicInteger sending = new AtomicInteger();

    /** The keys of messages whose release was written during a read. */
    private final List<KeyQueue> releasedDuringRead = new ArrayList<>();

    private boolean reading;
    private boolean closed;

    Sequencer(
            Topic topic, InFlight inFlight, Writer writer, DeliveryPipeline pipeline, LeaseValidity.Limit leaseLimit) {
        this.topic = topic;
        this.inFlight = inFlight;
        this.writer = writer;
        this.pipeline = pipeline;
        this.leaseLimit = leaseLimit;
        this.lanes = new OwnedLanes(leaseLimit);
    }

    Topic topic() {
        return topic;
    }

    // Lanes

    synchronized void add(Lane lane, LeaseValidity.Stamp asked) {
        lanes.add(lane, asked);
    }

    synchronized List<Lane> lanes() {
        return lanes.all().stream().map(owned -> owned.lane).toList();
    }

    /** The numbers of the messages in flight of each lane. */
    synchronized Map<Lane, Set<Long>> inFlight() {
        Map<Lane, Set<Long>> numbers = new HashMap<>();
        for (OwnedLane owned : lanes.all()) {
            numbers.put(
                    owned.lane,
                    owned.inFlight.stream()
                            .map(message -> message.claim().seq())
                            .collect(Collectors.toSet()));
        }
        return numbers;
    }

    /** The number of owned lanes that are not leaving. */
    synchronized int stayingLanes() {
        return lanes.staying();
    }

    /**
     * Lets lanes leave, or stop leaving, so that this many stay. Unsent messages of a leaving lane are released, so that
     * the lane is free when its running deliveries have ended: otherwise many messages of one key would delay the other
     * keys of the lane. A slow delivery delays them too, so a lane that still has one after the patience stops leaving
     * for now.
     *
     * @param patience for how long a leaving lane is neither read nor sent
     * @return whether a lane that was not read must be read again
     */
    synchronized boolean limitLanes(int most, Duration patience) {
        Set<OwnedLane> leaving = lanes.chooseLeaving(most, patience);
        boolean mustRead = false;
        for (OwnedLane owned : lanes.all()) {
            if (leaving.contains(owned) && !owned.isLeaving()) {
                owned.startLeaving(leaseLimit.platform());
                releaseUnsent(owned);
            } else if (owned.isLeaving() && !leaving.contains(owned)) {
                owned.stopLeaving(leaseLimit.platform(), patience);
                mustRead = true;
            }
        }
        return mustRead;
    }

    /** Removes and returns the leaving lanes without messages in flight. This node does not read from them any more. */
    synchronized List<Lane> removeDrained() {
        return lanes.removeDrained(closed);
    }

    synchronized boolean hasDrained() {
        return lanes.hasDrained(closed);
    }

    synchronized void renewed(Lane lane, LeaseValidity.Stamp asked) {
        OwnedLane owned = lanes.find(lane);
        if (owned != null) {
            owned.validity.renewed(asked);
        }
    }

    /** Removes a lane that another node owns now. Its unsent messages are not sent any more. */
    synchronized void lose(Lane lane) {
        OwnedLane owned = lanes.find(lane);
        if (owned != null) {
            owned.validity.lose();
            lanes.remove(owned);
            releaseUnsent(owned);
        }
    }

    /** Releases the unsent messages and sends no more. */
    synchronized void close() {
        closed = true;
        releaseUnsent();
    }

    /** Releases the unsent messages. Another node can then acquire the lanes. */
    synchronized void releaseUnsent() {
        lanes.all().forEach(this::releaseUnsent);
    }

    private void releaseUnsent(OwnedLane owned) {
        owned.keys().forEach(this::releaseBehind);
        Predicate<InFlightMessage> isOfLane = message -> message.claim().lease().equals(owned.lane.lease());
        List<InFlightMessage> unsent = Stream.concat(ready.stream(), suspects.stream())
                .filter(isOfLane)
                .toList();
        ready.removeAll(unsent);
        suspects.removeAll(unsent);
        unsent.forEach(this::release);
    }

    // Reading

    /** The lanes to read from now, with the number of messages to read from each. */
    synchronized Map<Lane, Integer> freeCapacity() {
        return closed ? Map.of() : lanes.freeCapacity();
    }

    synchronized int capacity() {
        return lanes.capacity();
    }

    /** Whether a lane with free capacity may have more messages. */
    synchronized boolean hasUnread() {
        return !closed && lanes.hasUnread();
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
        releasedDuringRead.forEach(key -> key.lane.releaseWritten(key));
        releasedDuringRead.clear();
    }

    /**
     * Records the result of a read.
     *
     * @param asked the lanes that were read, as {@link #freeCapacity} returned them; the other lanes were not read
     * @param claims the messages that were read
     * @param isCut whether the limit of bytes ended the read, so that any lane may have more messages
     */
    synchronized void readDone(Map<Lane, Integer> asked, Collection<LaneClaim> claims, boolean isCut) {
        lanes.readDone(asked, claims, isCut);
    }

    /** Takes the messages in the order in which they were read, and sends those that can be sent. */
    void offer(Collection<LaneClaim> claims, LeaseValidity.Stamp asked) {
        synchronized (this) {
            for (LaneClaim claim : claims) {
                OwnedLane owned = lanes.find(claim);
                if (owned != null) {
                    InFlightMessage message = InFlightMessage.inLane(topic, claim, owned.validity, asked);
                    inFlight.addWithoutSlot(message);
                    place(owned, message, claim.place());
                }
            }
        }
        send();
    }

    private void place(OwnedLane owned, InFlightMessage message, LaneClaim.Place place) {
        KeyQueue key = owned.key(OrderingKey.of(message.claim().message()));
        message.key = key;
        key.unsettled++;
        owned.inFlight.add(message);
        if (closed || owned.isLeaving() || key.unwrittenReleases > 0) {
            key.unwrittenReleases++;
            release(message);
        } else if (place == LaneClaim.Place.IN_ORDER && key.blocked) {
            block(key, message);
        } else {
            if (place == LaneClaim.Place.IN_BLOCKED_KEY && key.first == null) {
                key.blocked = true; // else an operator has replayed it, and it goes behind those in flight
            }
            enqueue(key, message);
        }
    }

    private void enqueue(KeyQueue key, InFlightMessage message) {
        if (key.first == null) {
            key.first = message;
            (IsolatedDelivery.isSuspect(message) ? suspects : ready).add(message);
        } else {
            key.behind.add(message);
        }
    }

    // Sending

    /**
     * Sends the ready messages that get a slot. A message keeps its slot until its outcome is written. One thread at a
     * time sends; a thread that comes meanwhile leaves its messages to the first. A result that is available at once
     * therefore sends the next message without recursion.
     */
    void send() {
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
        int leftFree = hasSuspectForASlot() ? 1 : 0; // for a suspect: otherwise a backlog takes every freed slot
        InFlightMessage next = ready.peek();
        if (next == null || !inFlight.tryTakeSlot(next, leftFree)) {
            return null;
        }
        return ready.remove();
    }

    /**
     * Returns the next suspect that can be delivered or buried now, or null. It stays here until {@link #takeSuspect}.
     *
     * @param exclusive whether a suspect that must be delivered with nothing else in flight is returned too
     */
    synchronized @Nullable InFlightMessage nextSuspect(boolean exclusive) {
        for (InFlightMessage next : suspects) {
            boolean isPossible = IsolatedDelivery.mustBeExclusive(next)
                    ? exclusive || IsolatedDelivery.mustBeBuried(next)
                    : inFlight.freeSlots(topic) > 0;
            if (isPossible) {
                return next;
            }
        }
        return null;
    }

    /**
     * Removes a suspect that is delivered or buried now. It has its slot then, unless nothing else may be in flight on
     * the node.
     *
     * @return false if it was released meanwhile, or if no slot is free
     */
    synchronized boolean takeSuspect(InFlightMessage suspect) {
        boolean takes = suspects.contains(suspect)
                && (IsolatedDelivery.mustBeExclusive(suspect) || inFlight.tryTakeSlot(suspect, 0));
        if (takes) {
            suspects.remove(suspect);
        }
        return takes;
    }

    /** Whether a suspect waits for a node with nothing else in flight. */
    synchronized boolean hasExclusiveSuspect() {
        return suspects.stream()
                .anyMatch(suspect ->
                        IsolatedDelivery.mustBeExclusive(suspect) && !IsolatedDelivery.mustBeBuried(suspect));
    }

    private boolean hasSuspectForASlot() {
        return !suspects.isEmpty() && !suspects.stream().allMatch(IsolatedDelivery::mustBeExclusive);
    }

    synchronized boolean hasSuspects() {
        return !suspects.isEmpty();
    }

    /** Sends a suspect that has its slot. */
    void sendSuspect(InFlightMessage message) {
        pipeline.deliver(message);
    }

    // Outcomes

    /**
     * Records the outcome of a message. The outcome, and the outcomes that follow from it for later messages of the
     * key, go to the writer before any other change of the key. A message that is read meanwhile is therefore
     * blocked after them, and the state here follows the order of the writes.
     */
    void decided(InFlightMessage message, LaneOutcome outcome) {
        end(message, outcome);
        send();
    }

    private synchronized void end(InFlightMessage message, LaneOutcome outcome) {
        if (!writer.add(message, outcome)) {
            return;
        }
        KeyQueue key = keyOf(message);
        if (key != null && blocksKey(outcome)) {
            key.unwrittenBlocks++;
        }
        if (key != null && key.first == message && !continuesAfterWrite(message, outcome)) {
            key.first = null;
            continueKey(key, message, outcome);
        }
    }

    /**
     * Whether the key continues only after the outcome is written. This is the case for a handled head of a blocked
     * key: its row is already gone, and the write makes the next message the head. It is also the case for a message
     * that is buried because it kills nodes. The next message of the key may kill nodes too: if it were sent before the
     * write, each loss could bring the first message back, ahead of it.
     */
    static boolean continuesAfterWrite(InFlightMessage message, LaneOutcome outcome) {
        if (outcome instanceof Outcome.Buried) {
            return IsolatedDelivery.mustBeBuried(message);
        }
        return outcome instanceof Outcome.Handled && message.isAt(LaneClaim.Place.IN_BLOCKED_KEY);
    }

    private void continueKey(KeyQueue key, InFlightMessage ended, LaneOutcome outcome) {
        if (blocksKey(outcome)) {
            key.blocked = true;
            blockBehind(key);
            releaseBehind(key);
        } else if (isReadAgain(outcome)) {
            key.unwrittenReleases++;
            ready.remove(ended);
            suspects.remove(ended);
            releaseBehind(key);
        } else {
            InFlightMessage next = key.behind.poll();
            if (next != null) {
                enqueue(key, next);
            }
        }
    }

    /** Whether the message is the head of its blocked key after this outcome. */
    private static boolean blocksKey(LaneOutcome outcome) {
        return outcome instanceof Outcome.Retry || outcome instanceof LaneOutcome.Parked;
    }

    /** Whether the message will be read again. The next read decides which messages the key has, and in which order. */
    private static boolean isReadAgain(LaneOutcome outcome) {
        return outcome instanceof Outcome.Released || outcome instanceof Outcome.Lost;
    }

    /**
     * Blocks the messages behind the head that were read in order. Messages that already wait in the database stay in
     * the queue.
     */
    private void blockBehind(KeyQueue key) {
        key.behind.removeIf(message -> {
            boolean inOrder = KeyQueue.isInOrder(message);
            if (inOrder) {
                block(key, message);
            }
            return inOrder;
        });
    }

    private void block(KeyQueue key, InFlightMessage message) {
        key.unwrittenBlocks++;
        end(message, new LaneOutcome.Blocked(message.claim()));
    }

    private void releaseBehind(KeyQueue key) {
        key.unwrittenReleases += key.behind.size();
        key.behind.forEach(this::release);
        key.behind.clear();
    }

    private void release(InFlightMessage message) {
        end(message, new Outcome.Released(message.claim()));
    }

    // Settlements

    /**
     * Processes an outcome that is written, or that was too late.
     *
     * @return whether to scan at once for messages of blocked keys
     */
    boolean settled(InFlightMessage message, LaneOutcome outcome, Settlement settlement) {
        KeyQueue key;
        boolean mustScan;
        synchronized (this) {
            key = keyOf(message);
            if (key == null) {
                return false;
            }
            key.lane.inFlight.remove(message);
            key.unsettled--;
            mustScan = settle(key, message, outcome, settlement);
            key.lane.removeIfIdle(key);
        }
        if (settlement instanceof Settlement.LeaseLost lost && !lost.finished()) {
            lose(key.lane.lane);
        }
        if (continuesAfterWrite(message, outcome)) {
            send();
        }
        return mustScan;
    }

    private boolean settle(KeyQueue key, InFlightMessage message, LaneOutcome outcome, Settlement settlement) {
        boolean keyBlocked = settlement instanceof Settlement.Settled settled && settled.keyBlocked();
        if (isReadAgain(outcome) && reading) {
            releasedDuringRead.add(key);
            return true;
        }
        if (isReadAgain(outcome)) {
            key.lane.releaseWritten(key);
            return true;
        }
        if (outcome instanceof LaneOutcome.Blocked) {
            key.unwrittenBlocks--;
            return !keyBlocked; // no head was left: the message is the head itself, and due
        }
        if (blocksKey(outcome)) {
            key.unwrittenBlocks--;
            return false;
        }
        if (message.isAt(LaneClaim.Place.IN_BLOCKED_KEY) && !settlement.isLost()) {
            key.blocked = (keyBlocked || key.unwrittenBlocks > 0) && !key.hasInOrder();
        }
        if (key.first == message) {
            key.first = null;
            continueKey(key, message, outcome);
        }
        return keyBlocked && key.first == null;
    }

    /** Null when this node no longer owns the lane. */
    private static @Nullable KeyQueue keyOf(InFlightMessage message) {
        KeyQueue key = message.key;
        return key == null || !key.lane.isOwned ? null : key;
    }
}
