package dev.postrider.jdbc;

import dev.postrider.internal.store.OrderingKey;
import dev.postrider.store.Claim;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * The read position of an owned lane under one lease token, and its messages in flight. A scan starts at a number below which
 * every message is read or finished. A wrong start only delays messages: a full scan is due once a minute, and runs when
 * {@link FullScanBudget} allows it. Thread-safe.
 */
final class LaneCursor {

    private static final long FULL_SCAN_EVERY_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long FULL_SCAN_SOON_NANOS = Duration.ofSeconds(1).toNanos();

    /** How many messages of a lane may be in flight on a node. If the node is lost, each of them may be the cause. */
    static final int MOST_IN_FLIGHT = 256;

    /**
     * Where a scan of a lane starts, and how many rows it reads.
     *
     * @param full whether the scan starts at the beginning of the lane
     * @param leaveOut the numbers above the start that were read before and have no outcome yet
     */
    record LaneScan(int lane, long start, int room, boolean full, List<Long> leaveOut) {}

    final int topicId;
    final int lane;
    final UUID token;
    private final Lock writing = new ReentrantLock();

    /** The numbers of the messages in flight that were read in order. */
    private final NumberSet inOrder = new NumberSet();

    /** The numbers of the other messages in flight, and whether each was read from a blocked key. */
    private final Map<Long, Boolean> waiting = new TreeMap<>();

    /**
     * The numbers and keys of messages whose outcome is written later, because another session has locked the row or the lane, or because
     * an earlier outcome of the key is written later. In the order in which they came.
     */
    private final Map<Long, OrderingKey> deferred = new LinkedHashMap<>();

    /** The numbers of messages that should have become the head of their key while another session had locked their row. */
    private final Set<Long> lockedHeads = new HashSet<>();

    /** The part of {@link #inOrder} that was read before the connection was lost. */
    private final TreeSet<Long> readBefore = new TreeSet<>();

    private int revision;
    private boolean floorKnown;
    private long storedFloor;
    private long start;
    private long nextFullScan;

    /** The highest number to which the current scan may advance the start. The scan left out messages that were put back since. */
    private long limit = Long.MAX_VALUE;

    LaneCursor(int topicId, int lane, UUID token, int revision, long nanos) {
        this.topicId = topicId;
        this.lane = lane;
        this.token = token;
        this.revision = revision;
        this.nextFullScan = nanos + FULL_SCAN_EVERY_NANOS;
    }

    /**
     * Writes outcomes under the locks of these lanes. Without the locks, one statement could unblock a key while another
     * statement blocks a message behind its head. Neither statement sees the other, and the message would have no head. A lane
     * has one owner, so a lock in this process is enough. Outcomes of different lanes are written concurrently.
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

    /** Whether a full scan of the lane is due. */
    synchronized boolean isFullScanDue(long nanos) {
        return nanos - nextFullScan >= 0;
    }

    /**
     * Starts the next scan.
     *
     * @param fullAllowed whether a full scan may run now, if one is due
     */
    synchronized LaneScan scan(int room, long nanos, boolean fullAllowed) {
        limit = Long.MAX_VALUE;
        boolean full = fullAllowed && isFullScanDue(nanos);
        if (full) {
            nextFullScan = nanos + FULL_SCAN_EVERY_NANOS;
        }
        long from = full ? 0 : start;
        return new LaneScan(lane, from, room, full, inOrder.above(from));
    }

    /**
     * Returns the highest number below the first message in flight that was read before the connection was lost. On another
     * server the number of that message may belong to a message of any lane. A scan leaves this number out, so it proves
     * nothing from there on.
     */
    synchronized long knownUpTo() {
        readBefore.removeIf(seq -> !inOrder.contains(seq));
        return readBefore.isEmpty() ? Long.MAX_VALUE : readBefore.first() - 1;
    }

    /**
     * Returns all messages in flight. Messages that were read in order are included: when a retry of such a message is written,
     * the database shows the message as waiting a moment before this node has the answer.
     */
    synchronized List<Long> inFlight() {
        List<Long> inFlight = inOrder.above(Long.MIN_VALUE);
        inFlight.addAll(waiting.keySet());
        return inFlight;
    }

    synchronized boolean isBelowStart(long seq) {
        return seq <= start;
    }

    /**
     * Adds a message that was read in order. A message that was read as waiting before is then in order again, for example on a server that
     * took over without the last commits. No scan starts above the message before it has its outcome.
     *
     * @return false if the message is already in flight
     */
    synchronized boolean addInOrder(long seq) {
        boolean inFlight = !waiting.isEmpty() && waiting.remove(seq) != null;
        return inOrder.add(seq) && !inFlight;
    }

    /**
     * Adds a message that was read outside the order.
     *
     * @param inBlockedKey true for a message of a blocked key, false for a scheduled message
     * @return false if the message is already in flight
     */
    synchronized boolean addWaiting(long seq, boolean inBlockedKey) {
        return !inOrder.contains(seq) && waiting.putIfAbsent(seq, inBlockedKey) == null;
    }

    /**
     * Raises the start of the next scan. The number must be proved by the last scan or an earlier one. If there may be more
     * rows, the number must not exceed the last returned row. Messages that were put back during the scan are read again.
     */
    synchronized void advance(long to) {
        start = Math.max(start, Math.min(to, limit));
    }

    /** Whether the message was read from a blocked key. */
    synchronized boolean isInBlockedKey(long seq) {
        return !waiting.isEmpty() && waiting.getOrDefault(seq, false);
    }

    /** Removes a message that has its outcome. */
    synchronized void finished(long seq) {
        inOrder.remove(seq);
        forgetWaiting(seq);
        written(seq);
    }

    private void forgetWaiting(long seq) {
        if (!waiting.isEmpty()) {
            waiting.remove(seq);
        }
    }

    /** Notes that the outcome must be written later, before all later outcomes of the key. */
    synchronized void defer(Claim claim) {
        deferred.putIfAbsent(claim.seq(), OrderingKey.of(claim.message()));
    }

    /** Notes that the outcome of a message is written. */
    synchronized void written(long seq) {
        if (!deferred.isEmpty()) {
            deferred.remove(seq);
        }
    }

    /**
     * Whether an outcome of the key that came before the outcome of this message is not written yet. Each deferred outcome is tried again
     * at its own time, so the order in which they came must be kept here.
     *
     * @param sameWrite whether the outcome of the message with a number is written together with this one
     */
    synchronized boolean isBehindDeferred(Claim claim, LongPredicate sameWrite) {
        if (deferred.isEmpty()) {
            return false;
        }
        OrderingKey key = OrderingKey.of(claim.message());
        for (Map.Entry<Long, OrderingKey> earlier : deferred.entrySet()) {
            if (earlier.getKey() == claim.seq()) {
                return false;
            }
            if (earlier.getValue().equals(key) && !sameWrite.test(earlier.getKey())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Notes that a message should be the head of its key, but another session has locked its row. If the message is in flight
     * here, its handler locks the row, and the message is promoted after its outcome. Otherwise no later event leads to the
     * message, so a full scan becomes due within a second.
     */
    synchronized void headIsLocked(long seq, long nanos) {
        if (isInFlight(seq)) {
            lockedHeads.add(seq);
        } else {
            fullScanSoon(nanos);
        }
    }

    /** Makes a full scan due within a second. */
    synchronized void fullScanSoon(long nanos) {
        if (nextFullScan - nanos > FULL_SCAN_SOON_NANOS) {
            nextFullScan = nanos + FULL_SCAN_SOON_NANOS;
        }
    }

    /** Whether the message should have become the head of its key while it was in flight, and is no longer in flight. True only once. */
    synchronized boolean takeLockedHead(long seq) {
        return !lockedHeads.isEmpty() && !isInFlight(seq) && lockedHeads.remove(seq);
    }

    private boolean isInFlight(long seq) {
        return inOrder.contains(seq) || waiting.containsKey(seq);
    }

    /** Puts back a message that was not delivered: the next scan reads it again. */
    synchronized void putBack(long seq) {
        if (inOrder.remove(seq)) {
            readAgain(seq);
        }
        forgetWaiting(seq);
        written(seq);
    }

    /** Puts back the messages that are noted here and not in flight on the node. Returns their number. */
    synchronized int putBackExcept(Set<Long> inFlight) {
        List<Long> stray =
                inFlight().stream().filter(seq -> !inFlight.contains(seq)).toList();
        stray.forEach(this::putBack);
        return stray.size();
    }

    /** Lowers the start so that the next scan reads the row with this number. */
    synchronized void readAgain(long seq) {
        start = Math.min(start, seq - 1);
        limit = Math.min(limit, seq - 1);
    }

    /** Returns the lane floor: no message up to this number is still to be delivered in order. A higher floor in the lane row stays. */
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

    /** Whether the floor is known. Otherwise it must be read from the lane row, on the server from which the lane is read. */
    synchronized boolean isFloorKnown() {
        return floorKnown;
    }

    /** Starts reading at the floor of the lane row. */
    synchronized void begin(long floor) {
        storedFloor = floor;
        start = floor;
        floorKnown = true;
    }

    /** Restarts the lane after a lost connection. The messages in flight stay. The start and the floor are no longer valid. */
    synchronized void restart() {
        readBefore.addAll(inOrder.above(Long.MIN_VALUE));
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
