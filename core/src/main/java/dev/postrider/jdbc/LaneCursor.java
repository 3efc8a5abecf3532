package dev.postrider.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;

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
    private final NavigableMap<Long, UUID> inOrder = new TreeMap<>();
    private final Map<Long, Boolean> waiting = new TreeMap<>();
    private int revision;
    private long floor;
    private long start;
    private long nextWhole;

    LaneCursor(int topicId, int lane, UUID token, int revision, long floor, long nanos) {
        this.topicId = topicId;
        this.lane = lane;
        this.token = token;
        this.revision = revision;
        this.floor = floor;
        this.start = floor;
        this.nextWhole = nanos + WHOLE_EVERY_NANOS;
    }

    synchronized Look look(int room, long nanos) {
        boolean whole = nanos - nextWhole >= 0;
        if (whole) {
            nextWhole = nanos + WHOLE_EVERY_NANOS;
        }
        return new Look(lane, whole ? 0 : start, room, whole);
    }

    /** What a look must leave out. */
    synchronized List<Long> readAlready(Look look) {
        return new ArrayList<>(inOrder.tailMap(look.start(), false).keySet());
    }

    synchronized List<Long> waitingInHand() {
        return new ArrayList<>(waiting.keySet());
    }

    synchronized boolean isBelowStart(long seq) {
        return seq <= start;
    }

    /** False when it is in hand already. */
    synchronized boolean tookInOrder(long seq, UUID id) {
        return inOrder.putIfAbsent(seq, id) == null;
    }

    /** @param inHeldKey or else beside the order */
    synchronized boolean tookWaiting(long seq, boolean inHeldKey) {
        return waiting.putIfAbsent(seq, inHeldKey) == null;
    }

    /**
     * The next look may begin there. Only called with a number that the look just taken has proved, or that an earlier one had,
     * and never above the last row that it returned if there may be more.
     */
    synchronized void advance(long to) {
        start = Math.max(start, to);
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
        if (inOrder.remove(seq) != null) {
            start = Math.min(start, seq - 1);
        }
        waiting.remove(seq);
    }

    /** What the lane row may say: nothing up to here is still to be delivered in order. */
    synchronized long floor() {
        long lowest = inOrder.isEmpty() ? Long.MAX_VALUE : inOrder.firstKey() - 1;
        return Math.max(floor, Math.min(start, lowest));
    }

    synchronized void stored(long storedFloor) {
        floor = storedFloor;
    }

    /** What was read is still in hand; what was concluded from it is not to be trusted. */
    synchronized void restart() {
        start = floor;
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
