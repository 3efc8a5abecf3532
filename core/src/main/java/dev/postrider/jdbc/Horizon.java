package dev.postrider.jdbc;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Below which number nothing can still appear: the messages there are committed, or never will be. Numbers are handed out before
 * they can be seen, so a reader that only remembers the highest one it met would miss what commits late.
 *
 * <p>A look at the database gives a number that was handed out, and how far everybody had come by then. A number is proved by a
 * later look, once everybody who could have drawn it or a lower one has finished. How that is told is the database's business
 * ({@link Sight}); here it is a comparison of two clocks of its own making, transaction ids or times. Thread-safe.
 */
final class Horizon {

    /** Looks that were taken and not proved yet; the oldest are proved first, so the middle ones may be left out. */
    private static final int MOST_MARKS = 64;

    /** A write that changed nothing, or on a database where it tells nothing. */
    static final long NO_TRANSACTION = 0;

    /**
     * What one look showed.
     *
     * @param server which server it was, and since when it runs: on another one, all numbers are off
     * @param lastNumber the last number handed out
     * @param finishedBefore every transaction that began before this is finished, and this look sees what it did
     * @param tick the time of the look itself, for databases where that can be compared; else null, and a later write tells
     */
    record Sight(
            String server,
            long lastNumber,
            long finishedBefore,
            @Nullable Long tick) {}

    /** A number that was handed out, and by which life of the database as far as is known here. */
    record Seen(long number, int life) {}

    private record Mark(long number, long tick) {}

    private final Deque<Mark> marks = new ArrayDeque<>();
    private @Nullable String server;
    private long lastNumber;
    private long proved;
    private int life;

    /** What is seen from now on is of this server. Nothing may be known of another one. */
    synchronized void begin(String server) {
        this.server = server;
    }

    /** Takes a look into account; false, and nothing of it, if it is of another server than everything else that is known. */
    synchronized boolean see(Sight sight) {
        if (!sight.server().equals(server)) {
            return false;
        }
        lastNumber = sight.lastNumber();
        Long tick = sight.tick();
        if (tick != null) {
            mark(lastNumber, tick);
        }
        for (Mark first = marks.peekFirst(); first != null && first.tick() < sight.finishedBefore(); ) {
            proved = Math.max(proved, first.number());
            marks.removeFirst();
            first = marks.peekFirst();
        }
        return true;
    }

    /** Nothing that is not yet visible has this number or a lower one. */
    synchronized long proved() {
        return proved;
    }

    /** To be called before a write is sent; what it returns goes to {@link #wrote}. */
    synchronized Seen lastSeen() {
        return new Seen(lastNumber, life);
    }

    /**
     * The write, whose transaction began after that number was seen, is committed: so everything up to the number is on disk. If
     * the database may have crashed in between it tells nothing, for the write may have been the new server's.
     */
    synchronized void wrote(Seen before, long transaction) {
        if (transaction != NO_TRANSACTION && before.life() == life) {
            mark(before.number(), transaction);
        }
    }

    /** Of which server what is proved is true; null when nothing is. */
    synchronized @Nullable String server() {
        return server;
    }

    synchronized boolean isOfAnotherServer(String server) {
        return this.server != null && !this.server.equals(server);
    }

    /** After the connection was lost: the database may have crashed, and given out numbers again. */
    synchronized void forget() {
        marks.clear();
        lastNumber = 0;
        proved = 0;
        server = null;
        life++;
    }

    private void mark(long number, long tick) {
        Mark last = marks.peekLast();
        if (number == 0 || (last != null && last.number() >= number)) {
            return;
        }
        if (marks.size() == MOST_MARKS) {
            marks.removeLast();
        }
        marks.addLast(new Mark(number, tick));
    }
}
