package dev.postrider.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Lets one simulated thread run at a time, and says which and when. They are real threads with one baton among them: a thread
 * keeps it until it waits, and the seed decides which gets it next. Time stands still while a thread can run, and otherwise jumps to the
 * moment when the next one can. So a run is the same each time, down to the last step.
 */
public final class Conductor {

    static final long NEVER = Long.MAX_VALUE;

    /** How long a thread may keep the baton by the real clock: far longer than any step takes, unless it is blocked. */
    private static final Duration LONGEST_STEP = Duration.ofSeconds(60);

    private static final int KEPT_LINES = 20_000;

    private static final ExecutorService CARRIERS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "strand");
        thread.setDaemon(true);
        return thread;
    });

    private final Chance chance;
    private final boolean traced;
    private final List<Strand> strands = new ArrayList<>();
    private final List<String> trace = new ArrayList<>();
    private final Strand main = new Strand(0, "main", new Host("world"), 0);
    private volatile Strand current = main;
    private final AtomicLong steps = new AtomicLong();
    private volatile boolean halting;
    private @Nullable Throwable failure;
    private long now;
    private long hash = 1;
    private int numbers;

    /** @param traced whether to keep what happens as text, and not only its hash */
    public Conductor(Chance chance, boolean traced) {
        this.chance = chance;
        this.traced = traced;
        main.carrier = Thread.currentThread();
        strands.add(main);
    }

    public Chance chance() {
        return chance;
    }

    /** Since the beginning of the run. */
    public long nanos() {
        return now;
    }

    public Strand current() {
        return current;
    }

    public long steps() {
        return steps.get();
    }

    /** Of everything that happened so far and of its order. */
    public long hash() {
        return hash;
    }

    public List<String> trace() {
        return Collections.unmodifiableList(trace);
    }

    /** Something happened. */
    public void note(String what) {
        if (halting) {
            return;
        }
        mix(what.hashCode());
        if (traced && trace.size() < KEPT_LINES) {
            trace.add(String.format(Locale.ROOT, "%10.3f ms  %-26s %s", now / 1e6, current, what));
        }
    }

    private void mix(long value) {
        hash = (hash ^ value) * 0x100000001B3L;
        hash ^= hash >>> 29;
    }

    /** Begins a simulated thread; it gets its first turn like any other. */
    public Strand begin(Host host, String name, Runnable task) {
        if (halting) {
            throw new Halted();
        }
        Strand strand = new Strand(++numbers, name, host, now);
        strands.add(strand);
        CARRIERS.execute(() -> carry(strand, task));
        return strand;
    }

    private void carry(Strand strand, Runnable task) {
        strand.carrier = Thread.currentThread();
        try {
            awaitBaton(strand);
            task.run();
        } catch (Halted e) {
            // as it should be
        } catch (Throwable e) {
            failure = failure == null ? e : failure;
        } finally {
            Thread.interrupted();
            end(strand);
        }
    }

    private void end(Strand strand) {
        strand.done = true;
        if (halting) {
            hand(main);
            return;
        }
        strands.remove(strand);
        hand(next());
    }

    /** Waits so long, and gives others a turn even if it is no time at all. */
    public void pass(Duration time) {
        pass(time.toNanos());
    }

    public void pass(long nanos) {
        current.wakeAt = now + nanos;
        turn();
    }

    /** Waits for a call of {@link #wake}. */
    public void rest() {
        current.wakeAt = NEVER;
        turn();
    }

    /** Waits until then or for a call of {@link #wake}. */
    public void restUntil(long nanos) {
        current.wakeAt = nanos;
        turn();
    }

    /** The strand may go on now. The baton stays where it is. */
    public void wake(Strand strand) {
        strand.wakeAt = Math.min(strand.wakeAt, now);
    }

    /** Nothing on this host goes on before then, except what the database is at. */
    public void freeze(Host host, Duration time) {
        host.freezeUntil(now + time.toNanos());
    }

    /** What is under way in the database goes on although its host does not. */
    public void enterDatabase() {
        current.inDatabase = true;
    }

    public void leaveDatabase() {
        current.inDatabase = false;
    }

    private void turn() {
        Strand me = current;
        if (halting) {
            throw new Halted();
        }
        Strand next = next();
        if (next != me) {
            hand(next);
            awaitBaton(me);
        }
    }

    /** Who is next, by chance among those who can go on first. */
    private Strand next() {
        if (failure != null) {
            return main;
        }
        long earliest = NEVER;
        int candidates = 0;
        for (Strand strand : strands) {
            long at = Math.max(strand.earliest(), now);
            if (at < earliest) {
                earliest = at;
                candidates = 1;
            } else if (at == earliest) {
                candidates++;
            }
        }
        if (earliest == NEVER) {
            throw new AssertionError("no strand can ever go on: " + strands);
        }
        now = earliest;
        int chosen = candidates == 1 ? 0 : chance.below(candidates);
        for (Strand strand : strands) {
            if (Math.max(strand.earliest(), now) == now && chosen-- == 0) {
                mix(strand.number);
                mix(now);
                return strand;
            }
        }
        throw new AssertionError("there was one just now");
    }

    private void hand(Strand next) {
        steps.incrementAndGet();
        current = next;
        LockSupport.unpark(next.carrier);
    }

    private void awaitBaton(Strand me) {
        long seen = steps.get();
        long since = System.nanoTime();
        boolean interrupted = false;
        while (current != me) {
            LockSupport.parkNanos(this, LONGEST_STEP.toNanos());
            interrupted |= Thread.interrupted(); // it is for the code, which sees it when it has its turn
            if (me == main && current != me) {
                if (steps.get() != seen) {
                    seen = steps.get();
                    since = System.nanoTime();
                } else if (System.nanoTime() - since > LONGEST_STEP.toNanos()) {
                    throw blocked();
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (me.halted) {
            throw new Halted();
        }
        if (me == main && failure != null) {
            throw new AssertionError("a simulated thread failed", failure);
        }
    }

    private AssertionError blocked() {
        AssertionError error =
                new AssertionError(current + " keeps the baton: it is blocked by a lock that is unknown here");
        Thread thread = current.carrier;
        if (thread != null) {
            error.setStackTrace(thread.getStackTrace());
        }
        return error;
    }

    /** Ends every thread that is left, one after another; to be called by the one that began the run. */
    public void halt() {
        halting = true;
        for (Strand strand : List.copyOf(strands)) {
            if (strand != main && !strand.done) {
                strand.halted = true;
                hand(strand);
                awaitHalt(strand);
            }
        }
    }

    private void awaitHalt(Strand strand) {
        long since = System.nanoTime();
        while (current != main) {
            LockSupport.parkNanos(this, LONGEST_STEP.toNanos());
            if (current != main && System.nanoTime() - since > LONGEST_STEP.toNanos()) {
                AssertionError error = new AssertionError(strand + " does not end");
                error.setStackTrace(Objects.requireNonNull(strand.carrier).getStackTrace());
                throw error;
            }
        }
    }
}
