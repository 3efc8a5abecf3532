package dev.postrider.dispatch;

import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.OrderingKey;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
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
 * One ordered topic on this node: the lanes it holds, and their messages on the way to the pipeline. Of each key one is sent at a
 * time, and the next when the outcome of the one before is known; different keys go side by side. When a message fails, what is
 * behind it in its key joins it in the database. Thread-safe.
 */
final class Sequencer {

    /**
     * How many messages are in hand over all lanes, and how many of one lane. Enough that some are read and sent while the outcomes
     * of others are written, a batch at a time.
     */
    private static final int BUFFER = 4096;

    private static final int LEAST_PER_LANE = 16;
    private static final int MOST_PER_LANE = 256;

    private final Topic topic;
    private final InFlight inFlight;
    private final BiPredicate<Held, Outcome> write;
    private final DeliveryPipeline pipeline;
    private final Time time;
    private final Duration lastStart;
    private final Map<Integer, LaneQueue> lanes = new TreeMap<>();
    private final Deque<Held> ready = new ArrayDeque<>();
    private final Deque<Held> suspects = new ArrayDeque<>();
    private final AtomicInteger sending = new AtomicInteger();

    /** The keys of messages that were put back during a read, to be read again. */
    private final List<KeyLine> returned = new ArrayList<>();

    private boolean reading;
    private boolean closed;

    /**
     * @param write takes outcomes, to be written in the order in which they come, and answers later by calling {@link #settled}; false
     *     if the message has one already. It is called in the middle of things, and must not wait.
     * @param lastStart how old a lease may be for a delivery to begin under it
     */
    Sequencer(
            Topic topic,
            InFlight inFlight,
            BiPredicate<Held, Outcome> write,
            DeliveryPipeline pipeline,
            Time time,
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

    synchronized void add(Lane lane, Tenure.Stamp asked) {
        lanes.put(lane.number(), new LaneQueue(lane, new Tenure(asked)));
    }

    synchronized List<Lane> lanes() {
        return lanes.values().stream().map(queue -> queue.lane).toList();
    }

    /** The numbers of the messages of each lane that are in flight. */
    synchronized Map<Lane, Set<Long>> inFlight() {
        Map<Lane, Set<Long>> numbers = new HashMap<>();
        lanes.values()
                .forEach(queue -> numbers.put(
                        queue.lane,
                        queue.inFlight.stream().map(held -> held.claim().seq()).collect(Collectors.toSet())));
        return numbers;
    }

    /** Those that it means to keep. */
    synchronized int kept() {
        return (int) lanes.values().stream().filter(queue -> !queue.leaving).count();
    }

    /**
     * Keeps so many; or takes back what it was letting go. What waits its turn in the others is put back, so that they can go when what was
     * sent has ended: much of one key would keep the other keys of its lane waiting.
     */
    synchronized void keep(int most) {
        int kept = 0;
        for (LaneQueue queue : lanes.values()) {
            boolean leaving = kept >= most;
            if (leaving && !queue.leaving) {
                putBack(queue);
            }
            queue.leaving = leaving;
            kept++;
        }
    }

    /** Those that were to be let go and of which nothing is in hand. They are no longer this node's to read from. */
    synchronized List<Lane> takeDry() {
        List<Lane> dry = new ArrayList<>();
        lanes.values().removeIf(queue -> {
            boolean isDry = (queue.leaving || closed) && queue.inFlight.isEmpty();
            if (isDry) {
                queue.gone = true;
                dry.add(queue.lane);
            }
            return isDry;
        });
        return dry;
    }

    synchronized boolean hasDry() {
        return lanes.values().stream().anyMatch(queue -> queue.leaving && queue.inFlight.isEmpty());
    }

    synchronized void renewed(Lane lane, Tenure.Stamp asked) {
        LaneQueue queue = lanes.get(lane.number());
        if (queue != null && queue.lane.equals(lane)) {
            queue.tenure.renewed(asked);
        }
    }

    /** Another node has the lane: what is in hand of it is not sent any more. */
    synchronized void lose(Lane lane) {
        LaneQueue queue = lanes.get(lane.number());
        if (queue != null && queue.lane.equals(lane)) {
            queue.tenure.lose();
            queue.gone = true;
            lanes.remove(lane.number());
            putBack(queue);
        }
    }

    private void putBack(LaneQueue queue) {
        queue.lines().forEach(this::release);
        releaseUnsent(held -> held.claim().lease().equals(queue.lane.lease()));
    }

    private void releaseUnsent(Predicate<Held> which) {
        List<Held> unsent =
                Stream.concat(ready.stream(), suspects.stream()).filter(which).toList();
        ready.removeAll(unsent);
        suspects.removeAll(unsent);
        unsent.forEach(this::release);
    }

    // Reading

    /** The lanes to read from now, and how many messages of each. */
    synchronized Map<Lane, Integer> room() {
        Map<Lane, Integer> room = new LinkedHashMap<>();
        for (LaneQueue queue : lanes.values()) {
            int free = perLane() - queue.inFlight.size();
            boolean sound = !queue.leaving && queue.tenure.sinceRenewal(time).compareTo(lastStart) < 0;
            if (!closed && sound && free > 0) {
                room.put(queue.lane, free);
            }
        }
        return room;
    }

    /**
     * Notes what a look has left.
     *
     * @param room what {@link #room} said: the other lanes were passed over
     * @param claims what came of it
     * @param isCut whether there was no room for so many bytes, so that nothing is known of any lane
     */
    synchronized void looked(Map<Lane, Integer> room, Collection<LaneClaim> claims, boolean isCut) {
        Map<Integer, Integer> found = new HashMap<>();
        claims.forEach(claim -> found.merge(claim.lane(), 1, Integer::sum));
        for (LaneQueue queue : lanes.values()) {
            Integer asked = room.get(queue.lane);
            queue.unread = isCut || asked == null || found.getOrDefault(queue.lane.number(), 0) >= asked;
        }
    }

    /** Whether there may be more in a lane that has room for it. */
    synchronized boolean wantsMore() {
        return room().keySet().stream().anyMatch(lane -> {
            LaneQueue queue = lanes.get(lane.number());
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
     * Until the end of the read nothing of a key is sent of which something was put back meanwhile: the read left that out, and
     * what it found may be behind it.
     */
    synchronized void beginRead() {
        reading = true;
    }

    synchronized void endRead() {
        reading = false;
        returned.forEach(line -> line.lane.returned(line));
        returned.clear();
    }

    /** Takes what was read, in its order, and sends what can be sent. */
    void offer(Collection<LaneClaim> claims, Tenure.Stamp asked) {
        synchronized (this) {
            for (LaneClaim claim : claims) {
                LaneQueue queue = lanes.get(claim.lane());
                if (queue != null && queue.lane.lease().equals(claim.claim().lease())) {
                    Held held = Held.inLane(topic, claim, queue.tenure, asked);
                    inFlight.hold(held);
                    place(queue, held, claim.place());
                }
            }
        }
        send();
    }

    private void place(LaneQueue queue, Held held, LaneClaim.Place place) {
        KeyLine line = queue.key(OrderingKey.of(held.claim().message()));
        held.line = line;
        line.inHand++;
        queue.inFlight.add(held);
        if (closed || queue.leaving || line.returning > 0) {
            line.returning++;
            release(held);
        } else if (place == LaneClaim.Place.IN_ORDER && line.held) {
            join(line, held);
        } else {
            if (place == LaneClaim.Place.IN_HELD_KEY && line.first == null) {
                line.held = true; // else an operator has replayed it, and it goes behind what is in hand
            }
            enqueue(line, held);
        }
    }

    private void enqueue(KeyLine line, Held held) {
        if (line.first == null) {
            line.first = held;
            (Solitude.isSuspect(held) ? suspects : ready).add(held);
        } else {
            line.behind.add(held);
        }
    }

    // Sending

    /** One thread at a time sends; one that comes meanwhile leaves it to that one, so an answer that is there at once sends the next. */
    private void send() {
        if (sending.getAndIncrement() != 0) {
            return;
        }
        int missed = 1;
        do {
            for (Held next = nextReady(); next != null; next = nextReady()) {
                pipeline.deliver(next);
            }
            missed = sending.addAndGet(-missed);
        } while (missed != 0);
    }

    private synchronized @Nullable Held nextReady() {
        if (ready.isEmpty() || inFlight.freeSlots(topic) <= 0) {
            return null;
        }
        Held next = ready.remove();
        inFlight.takeSlot(next);
        return next;
    }

    /** One that is to be delivered alone, or null; it is no longer this sequencer's to send. */
    synchronized @Nullable Held nextSuspect() {
        return suspects.poll();
    }

    /** What was answered keeps its slot until that is written, and others have theirs. */
    void slotsFreed() {
        send();
    }

    // Outcomes

    /**
     * What came of the message is known. It goes to be written, and so does what follows from it for those behind it, before anything
     * else happens to the key: another message that joins it meanwhile is written after them, and what is written is known here.
     */
    void decide(Held held, Outcome outcome) {
        end(held, outcome);
        send();
    }

    private synchronized void end(Held held, Outcome outcome) {
        if (!write.test(held, outcome)) {
            return;
        }
        KeyLine line = lineOf(held);
        if (line != null && line.first == held && !endsLater(held, outcome)) {
            line.first = null;
            goOn(line, held, outcome);
        }
    }

    /** The message is gone before its key can go on: the next one is its head when that is written, and not before. */
    private static boolean endsLater(Held held, Outcome outcome) {
        return outcome instanceof Outcome.Handled && placeOf(held) == LaneClaim.Place.IN_HELD_KEY;
    }

    private void goOn(KeyLine line, Held held, Outcome outcome) {
        if (outcome instanceof Outcome.Retry || outcome instanceof Outcome.Parked) {
            line.held = true;
            join(line);
            release(line);
        } else if (isReturned(outcome)) {
            line.returning++;
            ready.remove(held);
            suspects.remove(held);
            release(line);
        } else {
            Held next = line.behind.poll();
            if (next != null) {
                enqueue(line, next);
            }
        }
    }

    /** What is there of the key, and in which order, is for the next look to say. */
    private static boolean isReturned(Outcome outcome) {
        return outcome instanceof Outcome.Released || outcome instanceof Outcome.Lost;
    }

    /** What came in order goes to wait behind the head; what waits in the database anyway is left in the line. */
    private void join(KeyLine line) {
        line.behind.removeIf(held -> {
            boolean inOrder = KeyLine.isInOrder(held);
            if (inOrder) {
                join(line, held);
            }
            return inOrder;
        });
    }

    private void join(KeyLine line, Held held) {
        line.joining++;
        end(held, new Outcome.Blocked(held.claim()));
    }

    private void release(KeyLine line) {
        line.returning += line.behind.size();
        line.behind.forEach(this::release);
        line.behind.clear();
    }

    private void release(Held held) {
        end(held, new Outcome.Released(held.claim()));
    }

    /**
     * The outcome is written, or it was too late.
     *
     * @return whether to look at once for what waits in held keys
     */
    boolean settled(Held held, Outcome outcome, Settlement settlement) {
        KeyLine line;
        boolean look;
        synchronized (this) {
            line = lineOf(held);
            if (line == null) {
                return false;
            }
            line.lane.inFlight.remove(held);
            line.inHand--;
            look = settle(line, held, outcome, settlement);
            line.lane.forgetIfIdle(line);
        }
        if (settlement instanceof Settlement.LeaseLost lost && !lost.finished()) {
            lose(line.lane.lane);
        }
        if (endsLater(held, outcome)) {
            send();
        }
        return look;
    }

    private boolean settle(KeyLine line, Held held, Outcome outcome, Settlement settlement) {
        boolean keyHeld = settlement instanceof Settlement.Settled settled && settled.keyHeld();
        if (isReturned(outcome) && reading) {
            returned.add(line);
            return true;
        }
        if (isReturned(outcome)) {
            line.lane.returned(line);
            return true;
        }
        if (outcome instanceof Outcome.Blocked) {
            line.joining--;
            return !keyHeld; // nothing was left to wait for: it is the head itself, and due
        }
        if (outcome instanceof Outcome.Retry || outcome instanceof Outcome.Parked) {
            return false;
        }
        if (placeOf(held) == LaneClaim.Place.IN_HELD_KEY && !settlement.isLost()) {
            line.held = (keyHeld || line.joining > 0) && !line.hasInOrder();
        }
        if (line.first == held) {
            line.first = null;
            goOn(line, held, outcome);
        }
        return keyHeld && line.first == null;
    }

    /** Nothing is sent any more. */
    synchronized void close() {
        closed = true;
        putBack();
    }

    /** What waits its turn is put back. The lanes are free to go to another node then. */
    synchronized void putBack() {
        lanes.values().forEach(this::putBack);
    }

    /** Null when its lane is not held any more. */
    private static @Nullable KeyLine lineOf(Held held) {
        KeyLine line = held.line;
        return line == null || line.lane.gone ? null : line;
    }

    private static LaneClaim.@Nullable Place placeOf(Held held) {
        LaneClaim inLane = held.inLane();
        return inLane == null ? null : inLane.place();
    }
}
