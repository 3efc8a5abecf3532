package dev.postrider.dispatch;

import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers outcomes and writes them in batches. Nothing is dropped while the database cannot be reached: a batch is sent again
 * until there is an answer, because an outcome that is not written is a message delivered twice. Outcomes come in from any
 * thread; {@link #runOnce} belongs to one.
 */
final class OutcomeWriter {

    private static final Logger log = LoggerFactory.getLogger(OutcomeWriter.class);

    private static final Duration LINGER = Duration.ofMillis(10);
    private static final Duration IDLE = Duration.ofMinutes(1);

    /** How long after an outcome met a locked row it is written again. */
    private static final Duration LOCKED = Duration.ofMillis(100);

    private static final String UNSTORABLE = "The error text could not be stored";

    /** @param isPlain whether there is nothing in it that a database could refuse */
    private record Decided(Held held, Outcome outcome, long nanos, boolean isPlain) {

        Decided at(long later) {
            return new Decided(held, outcome, later, isPlain);
        }

        Decided plain() {
            return new Decided(held, withoutErrorText(outcome), nanos, true);
        }

        private static Outcome withoutErrorText(Outcome outcome) {
            if (outcome instanceof Outcome.Retry retry) {
                return new Outcome.Retry(retry.claim(), retry.delay(), UNSTORABLE);
            }
            if (outcome instanceof Outcome.Buried buried) {
                return new Outcome.Buried(buried.claim(), buried.reason(), UNSTORABLE);
            }
            if (outcome instanceof Outcome.Skipped skipped) {
                return new Outcome.Skipped(skipped.claim(), skipped.delay(), UNSTORABLE);
            }
            if (outcome instanceof Outcome.Parked parked) {
                return new Outcome.Parked(parked.claim(), parked.reason(), UNSTORABLE);
            }
            return outcome;
        }
    }

    /** Told of messages that are done with: their outcome is written, or came too late. */
    @FunctionalInterface
    interface Observer {
        void settled(Held held, Outcome outcome, Settlement settlement);
    }

    /**
     * Where outcomes go.
     *
     * @param settle writes outcomes, and answers in their order
     * @param undecided how many messages in hand have no outcome yet that would go there, or to another writer of the same kind
     * @param batch how many are written at once; more are no faster, or keep others waiting too long
     */
    record Ledger(Function<List<Outcome>, List<Settlement>> settle, IntSupplier undecided, int batch) {}

    private final Ledger ledger;
    private final InFlight inFlight;
    private final Time time;
    private final EventListener events;
    private final Observer observer;
    private final ConcurrentLinkedQueue<Decided> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger waitingOfClaims = new AtomicInteger();
    private final AtomicInteger unwritten = new AtomicInteger();
    private final Tally tally = new Tally();
    private final Deque<Decided> batch = new ArrayDeque<>();

    /** What met a locked row, with the time at which it is written again. */
    private final Deque<Decided> locked = new ArrayDeque<>();

    private volatile Runnable wake = () -> {};

    OutcomeWriter(Ledger ledger, InFlight inFlight, Time time, EventListener events, Observer observer) {
        this.ledger = ledger;
        this.inFlight = inFlight;
        this.time = time;
        this.events = events;
        this.observer = observer;
    }

    void onWork(Runnable wake) {
        this.wake = wake;
    }

    Tally tally() {
        return tally;
    }

    /** How many outcomes came in and are not written yet. */
    int unwritten() {
        return unwritten.get();
    }

    /**
     * The first outcome of a claim counts; what a released or overdue delivery answers later is passed over.
     *
     * @return whether it counts
     */
    boolean add(Held held, Outcome outcome) {
        if (!held.decide()) {
            return false;
        }
        unwritten.incrementAndGet();
        queue.add(new Decided(held, outcome, time.nanos(), false));
        if (!held.isBorn()) {
            waitingOfClaims.incrementAndGet();
        }
        int count = waiting.incrementAndGet();
        if (count == 1 || isEnough(count, held)) {
            wake.run();
        }
        return true;
    }

    /**
     * A claim that is done with makes room for the next one, so it is not kept waiting; nobody waits for a message that was born
     * claimed, as long as slots are left for others. Of a lane there is always more to send, as long as slots are left. While they are
     * closed nothing is sent, and somebody waits for what was.
     */
    private boolean isEnough(int count, Held oneOfThem) {
        if (count >= ledger.batch() || inFlight.isClosed()) {
            return true;
        }
        boolean takesSlots = count >= Math.max(inFlight.limit(oneOfThem.topic()) / 4, 1);
        if (oneOfThem.inLane() != null) {
            return takesSlots || ledger.undecided().getAsInt() <= 0;
        }
        return waitingOfClaims.get() > 0 ? ledger.undecided().getAsInt() <= 0 : takesSlots;
    }

    /** Writes a batch if one is full, has waited long enough, or is all there is to wait for. */
    Duration runOnce() {
        if (batch.isEmpty()) {
            takeLocked();
            Duration linger = remainingLinger();
            if (batch.isEmpty() && !linger.isZero()) {
                return shorter(linger, untilLocked());
            }
            takeBatch();
        }
        if (!batch.isEmpty()) {
            write();
        }
        return queue.isEmpty() ? untilLocked() : Duration.ZERO;
    }

    /** One locked row keeps nothing else from being written. */
    private void takeLocked() {
        while (!locked.isEmpty() && time.nanos() - locked.element().nanos() >= 0) {
            batch.add(locked.remove());
        }
    }

    private Duration untilLocked() {
        return locked.isEmpty()
                ? IDLE
                : shorter(IDLE, Duration.ofNanos(Math.max(locked.element().nanos() - time.nanos(), 0)));
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private Duration remainingLinger() {
        Decided oldest = queue.peek();
        int count = waiting.get();
        if (oldest == null || isEnough(count, oldest.held())) {
            return Duration.ZERO;
        }
        Duration waited = Duration.ofNanos(time.nanos() - oldest.nanos());
        return waited.compareTo(LINGER) >= 0 ? Duration.ZERO : LINGER.minus(waited);
    }

    private void takeBatch() {
        for (Decided next = nextOfQueue(); next != null; next = nextOfQueue()) {
            batch.add(next);
            waiting.decrementAndGet();
            if (!next.held().isBorn()) {
                waitingOfClaims.decrementAndGet();
            }
        }
    }

    private @Nullable Decided nextOfQueue() {
        return batch.size() < ledger.batch() ? queue.poll() : null;
    }

    /** What is finished leaves the batch; what is left when the database cannot be reached is sent again by the next round. */
    private void write() {
        try {
            finish(settle(batch));
        } catch (StoreUnavailableException | TransactionConflictException | SchemaMismatchException e) {
            throw e;
        } catch (RuntimeException | StackOverflowError e) {
            log.error("A batch of {} outcomes was refused: writing them one by one", batch.size(), e);
            while (!batch.isEmpty()) {
                writeFirstAlone();
            }
        }
    }

    /** One outcome that the database refuses must not hold back the others, nor repeat for ever. */
    private void writeFirstAlone() {
        Decided first = batch.element();
        try {
            finish(settle(List.of(first)));
        } catch (StoreUnavailableException | TransactionConflictException | SchemaMismatchException e) {
            throw e;
        } catch (RuntimeException | StackOverflowError e) {
            if (first.isPlain()) {
                log.error(
                        "The outcome of {} cannot be written; its lease will run out",
                        first.held().claim(),
                        e);
                finish(List.of(new Settlement.LeaseLost(first.held().claim(), false)));
            } else {
                batch.removeFirst();
                batch.addFirst(first.plain());
            }
        }
    }

    private List<Settlement> settle(Collection<Decided> decided) {
        return ledger.settle().apply(decided.stream().map(Decided::outcome).toList());
    }

    /** The answers are for the first of the batch, in its order. */
    private void finish(List<Settlement> settlements) {
        Tally before = tally.copy();
        int met = locked.size();
        for (Settlement settlement : settlements) {
            Decided decided = batch.removeFirst();
            if (settlement instanceof Settlement.Locked) {
                locked.add(decided.at(time.nanos() + LOCKED.toNanos()));
                continue;
            }
            inFlight.remove(decided.held());
            unwritten.decrementAndGet();
            tally.count(decided.outcome(), settlement);
            report(decided, settlement);
            observer.settled(decided.held(), decided.outcome(), settlement);
        }
        if (locked.size() - met < settlements.size()) {
            events.on(tally.since(before));
        }
    }

    private void report(Decided decided, Settlement settlement) {
        Held held = decided.held();
        Outcome outcome = decided.outcome();
        int attempt = held.claim().attempt();
        int maxAttempts = held.topic().maxAttempts();
        var message = held.claim().message();
        if (settlement instanceof Settlement.LeaseLost lost) {
            events.on(
                    lost.finished()
                            ? new Event.SkippedFinished(message, attempt)
                            : new Event.LeaseLost(message, attempt));
        } else if (outcome instanceof Outcome.Delivered || outcome instanceof Outcome.Handled) {
            events.on(new Event.Delivered(message, attempt, held.sinceStart(time)));
        } else if (outcome instanceof Outcome.Retry retry) {
            events.on(new Event.Failed(message, attempt, maxAttempts, retry.error(), retry.delay()));
        } else if (outcome instanceof Outcome.Buried buried) {
            events.on(new Event.Buried(
                    message, attempt, maxAttempts, buried.reason().name(), buried.error()));
        } else if (outcome instanceof Outcome.Skipped skipped) {
            events.on(new Event.Failed(message, attempt, maxAttempts, skipped.error(), skipped.delay()));
        } else if (outcome instanceof Outcome.Parked parked) {
            events.on(new Event.Parked(
                    message, attempt, maxAttempts, parked.reason().name(), parked.error()));
        } else if (outcome instanceof Outcome.Blocked) {
            events.on(new Event.Blocked(message));
        } else {
            events.on(new Event.Released(message));
        }
    }
}
