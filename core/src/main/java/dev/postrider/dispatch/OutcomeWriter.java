package dev.postrider.dispatch;

import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects outcomes and writes them in batches. No outcome is dropped while the database is unreachable: a batch is
 * sent again until the database responds, because a message without a written outcome is delivered twice. Any thread
 * can add outcomes; one thread calls {@link #runOnce}.
 */
final class OutcomeWriter<O extends LaneOutcome> {

    private static final Logger log = LoggerFactory.getLogger(OutcomeWriter.class);

    /**
     * The number of outcomes in one write; more are no faster, or delay others too long. For lanes, where a read writes
     * nothing, twice as many proved faster.
     */
    private static final int BATCH = 500;

    private static final int LANE_BATCH = 2 * BATCH;

    private static final Duration LINGER = Duration.ofMillis(10);
    private static final Duration IDLE = Duration.ofMinutes(1);

    /**
     * The delay before an outcome that met a locked row or lane is written again. It doubles up to the longest delay: a
     * renewal locks a lane for milliseconds, a handler locks a row for minutes.
     */
    private static final Duration LOCKED_FIRST = Duration.ofMillis(10);

    private static final Duration LOCKED_LONGEST = Duration.ofMillis(100);

    private static final String UNSTORABLE = "The error text could not be stored";

    /**
     * @param nanos the time of the decision, or of the next write of an outcome that met a lock
     * @param delay the last delay because of a lock
     * @param isPlain whether it has no text that a database could refuse
     */
    private record Decided<O>(InFlightMessage claimed, O outcome, long nanos, Duration delay, boolean isPlain) {

        Decided<O> afterLock(long now) {
            Duration doubled = delay.isZero() ? LOCKED_FIRST : delay.multipliedBy(2);
            Duration next = shorter(doubled, LOCKED_LONGEST);
            return new Decided<>(claimed, outcome, now + next.toNanos(), next, isPlain);
        }
    }

    /** Called for each message whose outcome is written, or whose lease was lost. */
    @FunctionalInterface
    interface Observer<O> {
        void settled(InFlightMessage claimed, O outcome, Settlement settlement);
    }

    /** The store that one kind of outcomes is written to. The writers of one kind share it. */
    static final class OutcomeSink<O extends LaneOutcome> {

        private final Function<List<O>, List<Settlement>> settle;
        private final UnaryOperator<O> withoutErrorText;
        private final IntSupplier inFlight;
        private final int batch;
        private final AtomicInteger unwritten = new AtomicInteger();

        /**
         * @param settle writes outcomes, and returns the results in their order
         * @param withoutErrorText replaces the error text of an outcome
         * @param inFlight the number of messages in flight that get this kind of outcome
         * @param batch the number of outcomes in one write
         */
        OutcomeSink(
                Function<List<O>, List<Settlement>> settle,
                UnaryOperator<O> withoutErrorText,
                IntSupplier inFlight,
                int batch) {
            this.settle = settle;
            this.withoutErrorText = withoutErrorText;
            this.inFlight = inFlight;
            this.batch = batch;
        }

        static OutcomeSink<Outcome> ofRows(MessageStore store, InFlight inFlight) {
            return new OutcomeSink<>(store::settle, OutcomeSink::withoutErrorText, inFlight::claimed, BATCH);
        }

        static OutcomeSink<LaneOutcome> ofLanes(LaneStore store, InFlight inFlight) {
            return new OutcomeSink<>(store::settle, OutcomeSink::withoutErrorText, inFlight::inLanes, LANE_BATCH);
        }

        /** The number of messages in flight without an outcome. */
        private int undecided() {
            return inFlight.getAsInt() - unwritten.get();
        }

        private static Outcome withoutErrorText(Outcome outcome) {
            if (outcome instanceof Outcome.Retry retry) {
                return new Outcome.Retry(retry.claim(), retry.delay(), UNSTORABLE, retry.took());
            }
            if (outcome instanceof Outcome.Buried buried) {
                return new Outcome.Buried(buried.claim(), buried.reason(), UNSTORABLE, buried.took());
            }
            return outcome;
        }

        private static LaneOutcome withoutErrorText(LaneOutcome outcome) {
            if (outcome instanceof LaneOutcome.RetryOutOfOrder retry) {
                return new LaneOutcome.RetryOutOfOrder(retry.claim(), retry.delay(), UNSTORABLE, retry.took());
            }
            if (outcome instanceof LaneOutcome.Parked parked) {
                return new LaneOutcome.Parked(parked.claim(), parked.reason(), UNSTORABLE, parked.took());
            }
            return outcome instanceof Outcome ofRows ? withoutErrorText(ofRows) : outcome;
        }
    }

    private final OutcomeSink<O> sink;
    private final InFlight inFlight;
    private final Platform time;
    private final EventListener events;
    private final Observer<? super O> observer;
    private final ConcurrentLinkedQueue<Decided<O>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger waitingOfClaims = new AtomicInteger();
    private final AtomicInteger keysWaiting = new AtomicInteger();
    private final OutcomeCounters counters = new OutcomeCounters();
    private final Deque<Decided<O>> batch = new ArrayDeque<>();

    /** Outcomes that met a locked row or lane, in the order of their next write. */
    private final Queue<Decided<O>> locked =
            new PriorityQueue<>((one, other) -> Long.signum(one.nanos() - other.nanos()));

    private volatile Runnable wake = () -> {};

    OutcomeWriter(
            OutcomeSink<O> sink, InFlight inFlight, Platform time, EventListener events, Observer<? super O> observer) {
        this.sink = sink;
        this.inFlight = inFlight;
        this.time = time;
        this.events = events;
        this.observer = observer;
    }

    /** Sets the wake-up of the loop that runs this writer. */
    void onWork(Runnable wake) {
        this.wake = wake;
    }

    OutcomeCounters counters() {
        return counters;
    }

    /** The number of outcomes of this kind that were added and are not written yet. */
    int unwritten() {
        return sink.unwritten.get();
    }

    /**
     * Adds the outcome of a message. Only the first outcome counts: a later result of a released or overdue delivery is
     * ignored.
     *
     * @return whether it counts
     */
    boolean add(InFlightMessage claimed, O outcome) {
        if (!claimed.decide()) {
            return false;
        }
        sink.unwritten.incrementAndGet();
        queue.add(new Decided<>(claimed, outcome, time.nanos(), Duration.ZERO, false));
        if (!claimed.isHandedOver()) {
            waitingOfClaims.incrementAndGet();
        }
        if (Sequencer.continuesAfterWrite(claimed, outcome)) {
            keysWaiting.incrementAndGet();
        }
        int count = waiting.incrementAndGet();
        if (count == 1 || isEnough(count, claimed)) {
            wake.run();
        }
        return true;
    }

    /**
     * Whether to write now. A written outcome makes room for the next claim, so outcomes of claimed messages do not
     * wait when no more are expected. No claim waits for a message of the local hand-over, as long as enough slots are
     * left. A lane always has more messages to send, as long as enough slots are left. A blocked key continues only
     * after the outcome of its handled head is written. While the slots are closed no message is sent, and the isolated
     * delivery waits for the outcomes.
     */
    private boolean isEnough(int count, InFlightMessage oneOfThem) {
        if (count >= sink.batch || inFlight.isClosed() || keysWaiting.get() > 0) {
            return true;
        }
        boolean takesSlots = count >= Math.max(inFlight.limit(oneOfThem.topic()) / 4, 1);
        if (oneOfThem.inLane() != null) {
            return takesSlots || sink.undecided() <= 0;
        }
        return waitingOfClaims.get() > 0 ? sink.undecided() <= 0 : takesSlots;
    }

    /** Writes a batch if it is full, has waited long enough, or no further outcomes are expected. */
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

    /** Adds the outcomes whose next write is due. A locked row or lane does not delay other outcomes. */
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
        Decided<O> oldest = queue.peek();
        int count = waiting.get();
        if (oldest == null || isEnough(count, oldest.claimed())) {
            return Duration.ZERO;
        }
        Duration waited = Duration.ofNanos(time.nanos() - oldest.nanos());
        return waited.compareTo(LINGER) >= 0 ? Duration.ZERO : LINGER.minus(waited);
    }

    private void takeBatch() {
        for (Decided<O> next = nextOfQueue(); next != null; next = nextOfQueue()) {
            batch.add(next);
            waiting.decrementAndGet();
            if (!next.claimed().isHandedOver()) {
                waitingOfClaims.decrementAndGet();
            }
            if (Sequencer.continuesAfterWrite(next.claimed(), next.outcome())) {
                keysWaiting.decrementAndGet();
            }
        }
    }

    private @Nullable Decided<O> nextOfQueue() {
        return batch.size() < sink.batch ? queue.poll() : null;
    }

    /**
     * Writes the batch. Written outcomes leave it. If the database is unreachable, the next round sends the rest again.
     */
    private void write() {
        try {
            finish(settle(batch));
        } catch (StoreUnavailableException | TransactionConflictException | SchemaMismatchException e) {
            throw e;
        } catch (RuntimeException | StackOverflowError e) {
            log.error("A batch of {} outcomes was refused: writing them one by one", batch.size(), e);
            while (!batch.isEmpty()) {
                writeFirst();
            }
        }
    }

    /** Writes one outcome. An outcome that the database refuses must neither delay the others nor repeat for ever. */
    private void writeFirst() {
        Decided<O> first = batch.element();
        try {
            finish(settle(List.of(first)));
        } catch (StoreUnavailableException | TransactionConflictException | SchemaMismatchException e) {
            throw e;
        } catch (RuntimeException | StackOverflowError e) {
            if (first.isPlain()) {
                log.error(
                        "The outcome of {} cannot be written; its lease will expire",
                        first.claimed().claim(),
                        e);
                finish(List.of(new Settlement.LeaseLost(first.claimed().claim(), false)));
            } else {
                batch.removeFirst();
                batch.addFirst(withoutErrorText(first));
            }
        }
    }

    private Decided<O> withoutErrorText(Decided<O> decided) {
        O outcome = sink.withoutErrorText.apply(decided.outcome());
        return new Decided<>(decided.claimed(), outcome, decided.nanos(), decided.delay(), true);
    }

    private List<Settlement> settle(Collection<Decided<O>> decided) {
        return sink.settle.apply(decided.stream().map(Decided::outcome).toList());
    }

    /** Processes the results, which belong to the first outcomes of the batch, in order. */
    private void finish(List<Settlement> settlements) {
        OutcomeCounters before = counters.copy();
        int lockedBefore = locked.size();
        long now = time.nanos();
        for (Settlement settlement : settlements) {
            Decided<O> decided = batch.removeFirst();
            if (settlement instanceof Settlement.Locked) {
                locked.add(decided.afterLock(now));
                continue;
            }
            OutcomeReport report = OutcomeReport.of(
                    decided.claimed(),
                    decided.outcome(),
                    settlement,
                    decided.claimed().sinceStart(time));
            counters.count(report.counted()); // first: what is no longer in flight is counted
            inFlight.remove(decided.claimed());
            sink.unwritten.decrementAndGet();
            events.on(report.event());
            observer.settled(decided.claimed(), decided.outcome(), settlement);
        }
        if (locked.size() - lockedBefore < settlements.size()) {
            events.on(counters.since(before));
        }
    }
}
