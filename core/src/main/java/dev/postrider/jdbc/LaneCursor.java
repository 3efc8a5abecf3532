package dev.postrider.jdbc;

import dev.postrider.store.OrderingKey;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * How far a lane has been read under one tenure, and what of that has no outcome yet. Reading begins at a number below which
 * everything is either read or finished; a wrong one could only delay, because now and then the lane is read from its beginning.
 * Thread-safe.
 */
final class LaneCursor {

    private static final long WHOLE_EVERY_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long WHOLE_SOON_NANOS = Duration.ofSeconds(1).toNanos();

    /** How many messages of a lane may be in a node's hands at once, each of which may be the one that kills it. */
    static final int MOST_IN_HAND = 256;

    /**
     * Where to begin, and how many rows to take.
     *
     * @param leaveOut the numbers from there on that were read already
     */
    record Look(int lane, long start, int room, boolean whole, List<Long> leaveOut) {}

    final int topicId;
    final int lane;
    final UUID token;
    private final Lock writing = new ReentrantLock();
    private final NavigableSet<Long> inOrder = new TreeSet<>();
    private final Map<Long, Boolean> waiting = new TreeMap<>();

    /** The numbers of messages whose outcomes could not be written because somebody has locked their rows, with their keys. */
    private final Map<Long, OrderingKey> locked = new HashMap<>();

    /** The numbers of messages that should be heads of their keys, and that somebody had locked when they were to become that. */
    private final Set<Long> lockedHeads = new HashSet<>();

    /** What of the first was read before the connection was lost. */
    private final NavigableSet<Long> readBefore = new TreeSet<>();

    private int revision;
    private boolean floorKnown;
    private long storedFloor;
    private long start;
    private long nextWhole;

    /** How far the look under way may conclude anything: it left out what was in hand and has been put back since. */
    private long limit = Long.MAX_VALUE;

    LaneCursor(int topicId, int lane, UUID token, int revision, long nanos) {
        this.topicId = topicId;
        this.lane = lane;
        this.token = token;
        this.revision = revision;
        this.nextWhole = nanos + WHOLE_EVERY_NANOS;
    }

    /**
     * Writes outcomes of these lanes while nobody else here does. A hold that ends while a message joins it would leave that one
     * without a head, since neither statement sees the other. A lane has one holder, so it is enough that this store does one thing
     * at a time in each; in different ones it may do several.
     */
    static <T> T writing(Collection<LaneCursor> lanes, Supplier<T> write) {
        List<LaneCursor> inOrder = new ArrayList<>(lanes);
        inOrder.sort(Comparator.<LaneCursor>comparingInt(cursor -> cursor.topicId)
                .thenComparingInt(cursor -> cursor.lane)
                .thenComparing(cursor -> cursor.token));
        Deque<Lock> locked = new ArrayDeque<>();
        try {
            for (LaneCursor cursor : inOrder) {
                cursor.writing.lock();
                locked.push(cursor.writing);
            }
            return write.get();
        } finally {
            locked.forEach(Lock::unlock);
        }
    }

    /** Whether a look should begin at the beginning of the lane. */
    synchronized boolean isWholeDue(long nanos) {
        return nanos - nextWhole >= 0;
    }

    /** @param wholeAllowed whether it may begin there now */
    synchronized Look look(int room, long nanos, boolean wholeAllowed) {
        limit = Long.MAX_VALUE;
        boolean whole = wholeAllowed && isWholeDue(nanos);
        if (whole) {
            nextWhole = nanos + WHOLE_EVERY_NANOS;
        }
        long from = whole ? 0 : start;
        return new Look(lane, from, room, whole, List.copyOf(inOrder.tailSet(from, false)));
    }

    /**
     * Below the first message in hand that may be of another server. There its number may stand for a message of any lane, and a look
     * leaves that out.
     */
    synchronized long knownUpTo() {
        readBefore.retainAll(inOrder);
        return readBefore.isEmpty() ? Long.MAX_VALUE : readBefore.first() - 1;
    }

    /**
     * Everything without an outcome. What came in order is among it although it is read elsewhere: a message that failed waits in
     * the database a moment before this node knows that it is written.
     */
    synchronized List<Long> inHand() {
        List<Long> inHand = new ArrayList<>(inOrder);
        inHand.addAll(waiting.keySet());
        return inHand;
    }

    synchronized boolean isBelowStart(long seq) {
        return seq <= start;
    }

    /**
     * False when it is in hand already. If it waited when it was read, it is in the order again, as on a server that took over without
     * the last commits: nobody may begin above it before it has its outcome.
     */
    synchronized boolean tookInOrder(long seq) {
        boolean inHand = waiting.remove(seq) != null;
        return inOrder.add(seq) && !inHand;
    }

    /** @param inHeldKey or else beside the order */
    synchronized boolean tookWaiting(long seq, boolean inHeldKey) {
        return !inOrder.contains(seq) && waiting.putIfAbsent(seq, inHeldKey) == null;
    }

    /**
     * The next look may begin there. Only called with a number that the look just taken has proved, or that an earlier one had,
     * and never above the last row that it returned if there may be more. What was put back during the look is read again.
     */
    synchronized void advance(long to) {
        start = Math.max(start, Math.min(to, limit));
    }

    /** Whether it was read from a held key. */
    synchronized boolean isInHeldKey(long seq) {
        return waiting.getOrDefault(seq, false);
    }

    /** It has its outcome. */
    synchronized void finished(long seq) {
        inOrder.remove(seq);
        waiting.remove(seq);
        locked.remove(seq);
    }

    /** Its outcome is to be written again later, and no other of its key before it. */
    synchronized void locked(long seq, OrderingKey key) {
        locked.put(seq, key);
    }

    /** Its outcome is written. */
    synchronized void unlocked(long seq) {
        locked.remove(seq);
    }

    /** Whether an outcome of the key has to be written before that of this message. */
    synchronized boolean isBehindLocked(long seq, OrderingKey key) {
        return !locked.isEmpty() && !locked.containsKey(seq) && locked.containsValue(key);
    }

    /**
     * Notes that a message should be the head of its key and is not, because somebody has locked it. One that is in hand here is being
     * handled, and is seen to when it has its outcome. For another nobody comes back, so the lane is looked at again soon.
     */
    synchronized void headIsLocked(long seq, long nanos) {
        if (isInHand(seq)) {
            lockedHeads.add(seq);
        } else if (nextWhole - nanos > WHOLE_SOON_NANOS) {
            nextWhole = nanos + WHOLE_SOON_NANOS;
        }
    }

    /** Whether it should have become the head of its key while it was in hand, and is not in hand any more; the answer is given once. */
    synchronized boolean takeLockedHead(long seq) {
        return !lockedHeads.isEmpty() && !isInHand(seq) && lockedHeads.remove(seq);
    }

    private boolean isInHand(long seq) {
        return inOrder.contains(seq) || waiting.containsKey(seq);
    }

    /** It was not delivered, and is to be read again. */
    synchronized void putBack(long seq) {
        if (inOrder.remove(seq)) {
            readAgain(seq);
        }
        waiting.remove(seq);
        locked.remove(seq);
    }

    /** Puts back whatever is noted here and not in flight; says how many that were. */
    synchronized int putBackExcept(Set<Long> inFlight) {
        List<Long> stray =
                inHand().stream().filter(seq -> !inFlight.contains(seq)).toList();
        stray.forEach(this::putBack);
        return stray.size();
    }

    /** Whatever has this number is to be read by the next look. */
    synchronized void readAgain(long seq) {
        start = Math.min(start, seq - 1);
        limit = Math.min(limit, seq - 1);
    }

    /** What the lane row may say, if it does not say more: nothing up to here is still to be delivered in order. */
    synchronized long floor() {
        long lowest = inOrder.isEmpty() ? Long.MAX_VALUE : inOrder.first() - 1;
        return Math.min(start, lowest);
    }

    synchronized long storedFloor() {
        return storedFloor;
    }

    synchronized void stored(long floor) {
        storedFloor = floor;
    }

    /** Whether it is known where to begin. Else the lane row must be asked, of the server that is to be read from. */
    synchronized boolean isFloorKnown() {
        return floorKnown;
    }

    /** Reading begins where the lane row says. */
    synchronized void begin(long floor) {
        storedFloor = floor;
        start = floor;
        floorKnown = true;
    }

    /** What was read is still in hand; what was concluded from it, and what the lane row said, is not to be trusted. */
    synchronized void restart() {
        readBefore.addAll(inOrder);
        start = 0;
        limit = 0;
        floorKnown = false;
    }

    synchronized long start() {
        return start;
    }

    synchronized int revision() {
        return revision;
    }

    synchronized void revision(int current) {
        revision = current;
    }
}
