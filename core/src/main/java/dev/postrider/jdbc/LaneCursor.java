package dev.postrider.jdbc;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
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

    /** How many messages of a lane may be in a node's hands at once, each of which may be the one that kills it. */
    static final int MOST_IN_HAND = 256;

    /** Where to begin, and how many rows to take. */
    record Look(int lane, long start, int room, boolean whole) {}

    final int topicId;
    final int lane;
    final UUID token;
    private final Lock writing = new ReentrantLock();
    private final NavigableSet<Long> inOrder = new TreeSet<>();
    private final Map<Long, Boolean> waiting = new TreeMap<>();

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
        return new Look(lane, whole ? 0 : start, room, whole);
    }

    /** What a look must leave out. */
    synchronized List<Long> readAlready(Look look) {
        return new ArrayList<>(inOrder.tailSet(look.start(), false));
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
    }

    /** It was not delivered, and is to be read again. */
    synchronized void putBack(long seq) {
        if (inOrder.remove(seq)) {
            readAgain(seq);
        }
        waiting.remove(seq);
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
