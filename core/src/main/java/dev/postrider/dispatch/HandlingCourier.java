package dev.postrider.dispatch;

import dev.postrider.error.PostriderException;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import dev.postrider.store.HandOver;
import dev.postrider.store.HandlingStore;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles messages in the transactions that remove them, on a few threads, each of which needs a connection. What waits for a thread
 * keeps its lease; what is being handled is locked in the database, and needs none. Thread-safe.
 */
final class HandlingCourier implements Courier {

    private static final Logger log = LoggerFactory.getLogger(HandlingCourier.class);

    /** How long a handler that was interrupted may take to end. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Duration A_MOMENT = Duration.ofMillis(1);

    /**
     * How long a message that another transaction has locked is left alone before it is tried again, and after the last time released. A
     * claim of another node may have it for a moment, another handler for minutes.
     */
    private static final List<Duration> WHILE_LOCKED =
            List.of(Duration.ofMillis(2), Duration.ofMillis(20), Duration.ofMillis(500));

    /**
     * What it works with.
     *
     * @param handOver who takes over what handlers send
     */
    record Means(HandlingStore store, HandOver handOver, Executor threads, Surroundings surroundings) {}

    private final Topic topic;
    private final HandlingStore.Handler handler;
    private final Means means;
    private final Verdict verdict;
    private final BiConsumer<Held, Outcome> decided;
    private final Set<Run> running = ConcurrentHashMap.newKeySet();
    private final Map<Held, Run> runs = new ConcurrentHashMap<>();
    private final Waiter closing;
    private volatile boolean closed;

    // Under the lock of this object
    private final Deque<Held> waiting = new ArrayDeque<>();
    private int threadsTaken;

    HandlingCourier(Topic topic, Means means, Verdict verdict, BiConsumer<Held, Outcome> decided) {
        this.topic = topic;
        this.handler = topic.handledBy(means.store());
        this.means = means;
        this.closing = means.surroundings().waiter();
        this.verdict = verdict;
        this.decided = decided;
    }

    @Override
    public void carry(Held held) {
        if (add(held)) {
            try {
                means.threads().execute(this::work);
            } catch (RejectedExecutionException e) {
                stranded().forEach(other -> fail(other, e));
            } catch (Throwable e) {
                stranded().forEach(other -> release(other, e)); // the machine has no thread, and that costs no attempt
            }
        }
    }

    /** @return whether one more thread is to be taken */
    private synchronized boolean add(Held held) {
        waiting.add(held);
        boolean more = threadsTaken < topic.handlerThreads();
        threadsTaken += more ? 1 : 0;
        return more;
    }

    /** A thread could not be had. Those that have one will come to what waits; without any nobody would. */
    private synchronized List<Held> stranded() {
        List<Held> stranded = new ArrayList<>();
        threadsTaken--;
        if (threadsTaken == 0) {
            stranded.addAll(waiting);
            waiting.clear();
        }
        return stranded;
    }

    private void work() {
        boolean ended = false;
        try {
            for (List<Held> next = take(); !next.isEmpty(); next = take()) {
                try {
                    handle(next);
                } catch (Throwable e) {
                    next.forEach(held -> fail(held, e));
                }
                forgetInterruption();
            }
            ended = true;
        } finally {
            if (!ended) {
                stranded().forEach(held -> decided.accept(held, new Outcome.Released(held.claim())));
            }
        }
    }

    /** What one handler was interrupted for is not the next one's business. A caller's own thread is the caller's. */
    private static void forgetInterruption() {
        if (Thread.currentThread() instanceof OwnThread) {
            Thread.interrupted();
        }
    }

    private synchronized List<Held> take() {
        List<Held> taken = new ArrayList<>();
        while (!waiting.isEmpty() && taken.size() < topic.handlersPerTransaction()) {
            taken.add(waiting.remove());
        }
        threadsTaken -= taken.isEmpty() ? 1 : 0;
        return taken;
    }

    private void handle(List<Held> together) {
        List<Held> left = new ArrayList<>();
        for (Held held : together) {
            if (closed || held.tenure().isLost()) {
                decided.accept(held, new Outcome.Released(held.claim()));
            } else {
                left.add(held);
            }
        }
        if (left.isEmpty()) {
            return;
        }
        run(left, left.size() > 1).forEach(this::handleAlone);
    }

    private void handleAlone(Held held) {
        for (Duration pause : WHILE_LOCKED) {
            pause(pause);
            if (run(List.of(held), false).isEmpty()) {
                return;
            }
        }
        decided.accept(held, new Outcome.Released(held.claim()));
    }

    /** @return what is to be handled again, alone */
    private List<Held> run(List<Held> together, boolean again) {
        Run run = new Run(together);
        List<Held> undone = new ArrayList<>();
        for (HandlingStore.Handled handled : run.run()) {
            Held held = run.held(handled.claim());
            if (run.isLate(held)) {
                decided.accept(held, verdict.on(held, late()));
            } else if (!closed && isForAnotherTry(handled.end(), again)) {
                undone.add(held);
            } else {
                conclude(held, handled);
            }
        }
        return undone;
    }

    private static boolean isForAnotherTry(HandlingStore.End end, boolean again) {
        return end == HandlingStore.End.LOCKED || (again && end == HandlingStore.End.UNDONE);
    }

    private void conclude(Held held, HandlingStore.Handled handled) {
        Throwable failure = handled.failure();
        switch (handled.end()) {
            case DONE -> decided.accept(held, new Outcome.Handled(held.claim()));
            case LOST -> decided.accept(held, new Outcome.Lost(held.claim()));
            case FAILED -> fail(held, failure);
            case UNDONE, LOCKED -> release(held, failure);
            case UNKNOWN -> {
                if (isGone(held)) {
                    decided.accept(held, new Outcome.Handled(held.claim()));
                } else {
                    release(held, failure);
                }
            }
        }
    }

    private void fail(Held held, @Nullable Throwable failure) {
        DeliveryResult result = failure == null
                ? DeliveryResult.failed("The handler gave no reason")
                : Failures.classify(topic, failure);
        decided.accept(held, verdict.on(held, result));
    }

    /** It was the database that failed, and that costs no attempt. */
    private void release(Held held, @Nullable Throwable failure) {
        if (!closed) {
            log.warn("A message of topic {} could not be handled: it is tried again", topic.name(), failure);
        }
        decided.accept(held, new Outcome.Released(held.claim()));
    }

    /** Asks until there is an answer: without a database there is nothing else to be handled. */
    private boolean isGone(Held held) {
        Backoff backoff = new Backoff();
        while (!closed) {
            try {
                return !means.store().gone(List.of(held.claim())).isEmpty();
            } catch (PostriderException e) {
                log.debug("Whether a message of topic {} was handled cannot be found out yet", topic.name(), e);
                pause(backoff.next());
            }
        }
        return false;
    }

    /** Waits while the lease is being prolonged, which is one statement. */
    private void keepRow(Held held) {
        while (!held.tryKeepRow()) {
            pause(A_MOMENT);
        }
    }

    private void pause(Duration time) {
        try {
            closing.await(time);
        } catch (InterruptedException e) {
            log.debug("Interrupted while waiting: by a close, or by a handler that kept its interruption");
        }
    }

    /** First the handler is interrupted; one that does not mind loses its connection, and with it what it wrote. */
    @Override
    public void giveUp(Held held) {
        Run run = runs.get(held);
        if (run != null && !run.interrupt(held)) {
            run.abandon();
            decided.accept(held, verdict.on(held, late()));
            run.all().forEach(other -> decided.accept(other, new Outcome.Released(other.claim())));
            endSession(run);
        }
    }

    /** On another thread: this one keeps the leases, and the database may make it wait. */
    private void endSession(Run run) {
        try {
            means.threads().execute(run::endSession);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            log.debug("No thread was left to end the session of a handler", e);
            run.endSession();
        }
    }

    private DeliveryResult late() {
        return DeliveryResult.failed("The handler gave no answer within " + topic.handlerTimeout());
    }

    @Override
    public void close() {
        closed = true;
        closing.signal();
        List<Run> given = List.copyOf(running);
        given.forEach(Run::abandon);
        boolean reachable = true;
        for (Run run : given) {
            reachable = reachable && run.endSession();
        }
    }

    /** One transaction. */
    private final class Run {

        private final Map<Claim, Held> byClaim = new HashMap<>();
        private final Set<Held> late = ConcurrentHashMap.newKeySet();
        private final HandlingStore.Transaction transaction;

        // Under the lock of this object
        private @Nullable Held current;
        private @Nullable Thread thread;

        Run(List<Held> together) {
            together.forEach(held -> byClaim.put(held.claim(), held));
            List<HandlingStore.Item> items =
                    together.stream().map(HandlingCourier::item).toList();
            transaction = means.store()
                    .transaction(
                            items, new HandlingStore.Terms(this::handle, topic.handlerTimeout(), means.handOver()));
        }

        Held held(Claim claim) {
            Held held = byClaim.get(claim);
            if (held == null) {
                throw new IllegalStateException("an answer for a message that was not asked about: " + claim);
            }
            return held;
        }

        Collection<Held> all() {
            return byClaim.values();
        }

        boolean isLate(Held held) {
            return late.contains(held);
        }

        List<HandlingStore.Handled> run() {
            byClaim.values().forEach(HandlingCourier.this::keepRow);
            byClaim.values().forEach(held -> runs.put(held, this));
            running.add(this);
            try {
                if (closed) {
                    transaction.abandon();
                }
                return transaction.run();
            } finally {
                running.remove(this);
                byClaim.values().forEach(runs::remove);
                byClaim.values().forEach(Held::leaveRow);
            }
        }

        private void handle(Claim claim, Message message, UnitOfWork work) throws Exception {
            Held held = held(claim);
            long begun = means.surroundings().nanos();
            begin(held);
            try {
                handler.handle(claim, message, work);
            } catch (Throwable e) {
                if (means.surroundings().nanos() - begun
                        >= topic.handlerTimeout().toNanos()) {
                    late.add(held); // its connection may have been given up for that, before anybody asked how long it
                    // takes
                }
                throw e;
            } finally {
                end(held);
            }
            if (isLate(held)) {
                throw new IllegalStateException("The handler ended too late");
            }
        }

        private synchronized void begin(Held held) {
            current = held;
            thread = Thread.currentThread();
            held.begin(means.surroundings(), topic.handlerTimeout());
        }

        /** An interruption that came too late must not meet what this thread does next. */
        private synchronized void end(Held held) {
            current = null;
            held.rest();
            if (isLate(held)) {
                Thread.interrupted();
            }
        }

        /** @return whether there is still hope that it ends by itself */
        synchronized boolean interrupt(Held held) {
            if (held != current || thread == null) {
                return true;
            }
            if (late.add(held)) {
                thread.interrupt();
                held.begin(means.surroundings(), PATIENCE);
                return true;
            }
            return false;
        }

        void abandon() {
            transaction.abandon();
        }

        boolean endSession() {
            return transaction.endSession();
        }
    }

    private static HandlingStore.Item item(Held held) {
        LaneClaim inLane = held.inLane();
        return new HandlingStore.Item(held.claim(), inLane == null ? null : inLane.place());
    }
}
