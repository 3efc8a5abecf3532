package dev.postrider.jdbc;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Computes the number up to which no uncommitted row can appear: each row there is committed, or never will be. A sequence hands out
 * numbers before their rows are visible. A reader that only remembers the highest number it has read would miss rows that commit late.
 *
 * <p>A scan returns the last number handed out, and which transactions have finished. A later scan proves the number, once every
 * transaction that could have drawn it or a lower number has finished. Each database detects this in its own way ({@link Sight}). This
 * class only compares two values of the same kind: transaction ids or times. Thread-safe.
 */
final class Horizon {

    /** The limit for marks that are not proved yet. The oldest are proved first, so the ones before the newest can be dropped. */
    private static final int MOST_MARKS = 64;

    /** The transaction of a write that changed nothing, or of a database where the id has no meaning. */
    static final long NO_TRANSACTION = 0;

    /**
     * The result of one scan.
     *
     * @param server the server and its start time; numbers of another server cannot be compared
     * @param lastNumber the last number handed out
     * @param finishedBefore every transaction that began before this value is finished and visible to the scan
     * @param tick the time of the scan, for databases where it can be compared; otherwise null, and {@link Horizon#wrote} adds the mark
     */
    record Sight(
            String server,
            long lastNumber,
            long finishedBefore,
            @Nullable Long tick) {}

    /**
     * A number that was handed out.
     *
     * @param life a counter that rises whenever the database may have crashed
     */
    record Seen(long number, int life) {}

    private record HorizonMark(long number, long tick) {}

    private final Deque<HorizonMark> marks = new ArrayDeque<>();
    private @Nullable String server;
    private long lastNumber;
    private long proved;
    private int life;

    /** Sets the server of all later scans. Must not be called while results of another server are stored. */
    synchronized void begin(String server) {
        this.server = server;
    }

    /**
     * Adds the result of a scan.
     *
     * @return false if the scan was on another server than the stored results; then it changes nothing
     */
    synchronized boolean see(Sight sight) {
        if (!sight.server().equals(server)) {
            return false;
        }
        lastNumber = sight.lastNumber();
        Long tick = sight.tick();
        if (tick != null) {
            mark(lastNumber, tick);
        }
        for (HorizonMark first = marks.peekFirst(); first != null && first.tick() < sight.finishedBefore(); ) {
            proved = Math.max(proved, first.number());
            marks.removeFirst();
            first = marks.peekFirst();
        }
        return true;
    }

    /** The proved number: every row with this number or a lower one is visible, or never will be. */
    synchronized long proved() {
        return proved;
    }

    /** Must be called before a write is sent. The result is the argument of {@link #wrote}. */
    synchronized Seen lastSeen() {
        return new Seen(lastNumber, life);
    }

    /**
     * Records a committed write whose transaction began after the number was seen. All numbers up to that one are on disk then. The
     * write is ignored if the database may have crashed in between, because the restarted server may have run it.
     */
    synchronized void wrote(Seen before, long transaction) {
        if (transaction != NO_TRANSACTION && before.life() == life) {
            mark(before.number(), transaction);
        }
    }

    /** The server for which the proved number is valid; null when none is proved. */
    synchronized @Nullable String server() {
        return server;
    }

    synchronized boolean isOfAnotherServer(String server) {
        return this.server != null && !this.server.equals(server);
    }

    /** Resets everything after a lost connection: the database may have crashed, and may hand out the same numbers again. */
    synchronized void forget() {
        marks.clear();
        lastNumber = 0;
        proved = 0;
        server = null;
        life++;
    }

    private void mark(long number, long tick) {
        HorizonMark last = marks.peekLast();
        if (number == 0 || (last != null && last.number() >= number)) {
            return;
        }
        if (marks.size() == MOST_MARKS) {
            marks.removeLast();
        }
        marks.addLast(new HorizonMark(number, tick));
    }
}
