package dev.postrider.dispatch;

import dev.postrider.error.PostriderException;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.HandlingStore;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.NoHandlerException;
import dev.postrider.internal.trace.SafeSpan;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.trace.TracedSpan;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles messages in the transactions that remove them, on a few threads, each with its own connection. A message that
 * waits for a thread keeps its lease. A message that is being handled is locked in the database and needs no lease.
 * Thread-safe.
 */
final class HandlerDelivery implements TopicDelivery {

    private static final Logger log = LoggerFactory.getLogger(HandlerDelivery.class);

    /** How long an interrupted handler may take to end. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Duration A_MOMENT = Duration.ofMillis(1);

    /**
     * The pauses before a message that another transaction has locked is tried again. After the last try the message is
     * released. A claim of another node may have the lock for a moment, another handler for minutes.
     */
    private static final List<Duration> WHILE_LOCKED =
            List.of(Duration.ofMillis(2), Duration.ofMillis(20), Duration.ofMillis(500));

    /** How many messages are remembered whose handler lost its connection. */
    private static final int MOST_DISCONNECTED = 1000;

    /**
     * The threads of handlers.
     *
     * @param running one for each running transaction
     * @param endings end the sessions of transactions that are given up; not in a thread that runs one
     */
    record HandlerThreads(Executor running, Executor endings) {}

    /**
     * Where the transactions of handlers run.
     *
     * @param store begins them
     * @param handOver takes over the messages that handlers send
     */
    record HandlerResources(
            HandlingStore store, HandOver handOver, HandlerThreads threads, SafeTracing tracing, Platform platform) {}

    private final Topic topic;
    private final HandlingStore.Handler handler;

    /** Whether the handler is code of the application. Otherwise it passes the message on to an inbox. */
    private final boolean isProcessing;

    private final HandlerResources transactions;
    private final OutcomeDecider decider;
    private final OutcomeReceiver outcomes;
    private final Set<HandlerRun> running = ConcurrentHashMap.newKeySet();
    private final Map<InFlightMessage, HandlerRun> runs = new ConcurrentHashMap<>();
    private final Platform.Waiter closing;
    private volatile boolean draining;
    private volatile boolean closed;

    /** The messages whose handler lost its connection, the oldest first. Guarded by its own lock. */
    private final Set<MessageId> disconnected = new LinkedHashSet<>();

    // Guarded by the lock of this object
    private final Deque<InFlightMessage> waiting = new ArrayDeque<>();
    private int threadsTaken;

    HandlerDelivery(
            Topic topic,
            TopicDestination.InTransaction destination,
            HandlerResources transactions,
            OutcomeDecider decider,
            OutcomeReceiver outcomes) {
        this.topic = topic;
        this.handler = destination.handler(transactions.store());
        this.isProcessing = destination instanceof TopicDestination.Processing;
        this.transactions = transactions;
        this.closing = transactions.platform().waiter();
        this.decider = decider;
        this.outcomes = outcomes;
    }

    @Override
    public void deliver(InFlightMessage claimed) {
        if (add(claimed)) {
            try {
                transactions.threads().running().execute(this::work);
            } catch (RejectedExecutionException e) {
                giveUpThread().forEach(other -> fail(other, e));
            } catch (Throwable e) {
                giveUpThread().forEach(other -> release(other, e)); // no thread is available, and that costs no attempt
            }
        }
    }

    /** @return whether to start one more thread */
    private synchronized boolean add(InFlightMessage claimed) {
        waiting.add(claimed);
        boolean more = threadsTaken < topic.handlerThreads();
        threadsTaken += more ? 1 : 0;
        return more;
    }

    /**
     * Gives up a thread that could not be started or has died. If other threads run, they handle the waiting messages.
     * Otherwise the waiting messages are returned.
     */
    private synchronized List<InFlightMessage> giveUpThread() {
        List<InFlightMessage> left = new ArrayList<>();
        threadsTaken--;
        if (threadsTaken == 0) {
            left.addAll(waiting);
            waiting.clear();
        }
        return left;
    }

    private void work() {
        boolean ended = false;
        try {
            for (List<InFlightMessage> next = take(); !next.isEmpty(); next = take()) {
                try {
                    handle(next);
                } catch (Throwable e) {
                    next.forEach(claimed -> fail(claimed, e));
                }
                clearInterrupt();
            }
            ended = true;
        } finally {
            if (!ended) {
                giveUpThread().forEach(outcomes::released);
            }
        }
    }

    /**
     * Clears the interrupt flag of a handler before the next one runs. The flag of a caller's own thread is not
     * changed.
     */
    private static void clearInterrupt() {
        if (Platform.isOwnThread()) {
            Thread.interrupted();
        }
    }

    private synchronized List<InFlightMessage> take() {
        List<InFlightMessage> taken = new ArrayList<>();
        while (!waiting.isEmpty() && taken.size() < topic.handlersPerTransaction()) {
            taken.add(waiting.remove());
        }
        threadsTaken -= taken.isEmpty() ? 1 : 0;
        return taken;
    }

    private void handle(List<InFlightMessage> together) {
        List<InFlightMessage> deliverable = new ArrayList<>();
        for (InFlightMessage claimed : together) {
            Outcome instead = draining || claimed.validity().isLost()
                    ? new Outcome.Released(claimed.claim())
                    : decider.insteadOfDelivery(claimed);
            if (instead == null) {
                deliverable.add(claimed);
            } else {
                outcomes.decided(claimed, instead);
            }
        }
        if (deliverable.isEmpty()) {
            return;
        }
        run(deliverable, deliverable.size() > 1).forEach(this::handleSeparately);
    }

    private void handleSeparately(InFlightMessage claimed) {
        for (Duration pause : WHILE_LOCKED) {
            pause(pause);
            if (draining) {
                break;
            }
            if (run(List.of(claimed), false).isEmpty()) {
                return;
            }
        }
        outcomes.released(claimed);
    }

    /** @return the messages that must be handled again, each alone */
    private List<InFlightMessage> run(List<InFlightMessage> together, boolean again) {
        HandlerRun run = new HandlerRun(together);
        List<InFlightMessage> undone = new ArrayList<>();
        for (HandlingStore.HandlingResult handled : run.run()) {
            InFlightMessage claimed = run.claimed(handled.claim());
            if (run.isLate(claimed)) {
                outcomes.decided(claimed, decider.on(claimed, late()));
            } else if (!closed && isForAnotherTry(handled.end(), again)) {
                undone.add(claimed);
            } else {
                decide(claimed, handled);
            }
        }
        return undone;
    }

    private static boolean isForAnotherTry(HandlingStore.End end, boolean again) {
        return end == HandlingStore.End.LOCKED || (again && end == HandlingStore.End.UNDONE);
    }

    private void decide(InFlightMessage claimed, HandlingStore.HandlingResult handled) {
        Throwable failure = handled.failure();
        switch (handled.end()) {
            case DONE -> {
                removeDisconnected(claimed);
                outcomes.decided(claimed, new Outcome.Handled(claimed.claim()));
            }
            case LOST -> outcomes.decided(claimed, new Outcome.Lost(claimed.claim()));
            case FAILED -> fail(claimed, failure);
            case UNDONE, LOCKED -> release(claimed, failure);
            case DISCONNECTED -> disconnected(claimed, failure);
            case UNKNOWN -> {
                if (isGone(claimed)) {
                    outcomes.decided(claimed, new Outcome.Handled(claimed.claim()));
                } else {
                    release(claimed, failure);
                }
            }
        }
    }

    private void removeDisconnected(InFlightMessage claimed) {
        synchronized (disconnected) {
            disconnected.remove(claimed.claim().message().id());
        }
    }

    /**
     * Attributes the first lost connection to the database. If the handler loses its connection again with the same
     * message, the attempt has failed.
     */
    private void disconnected(InFlightMessage claimed, @Nullable Throwable failure) {
        boolean isFirst;
        synchronized (disconnected) {
            isFirst = disconnected.add(claimed.claim().message().id());
            if (disconnected.size() > MOST_DISCONNECTED) {
                disconnected.remove(disconnected.iterator().next());
            }
        }
        if (isFirst) {
            release(claimed, failure);
        } else {
            fail(claimed, failure);
        }
    }

    /** The message expired while it waited for the other messages of its transaction. */
    private static final class ExpiredException extends Exception {

        private static final long serialVersionUID = 1;
    }

    private void fail(InFlightMessage claimed, @Nullable Throwable failure) {
        if (failure instanceof ExpiredException) {
            outcomes.decided(claimed, OutcomeDecider.expired(claimed));
            return;
        }
        if (failure instanceof NoHandlerException none) {
            outcomes.decided(claimed, OutcomeDecider.unhandled(claimed, none));
            return;
        }
        DeliveryResult result = failure == null
                ? DeliveryResult.failed("The handler gave no reason")
                : ThrowableClassifier.classify(claimed, failure);
        outcomes.decided(claimed, decider.on(claimed, result));
    }

    /** Releases the message: the database failed, and that costs no attempt. */
    private void release(InFlightMessage claimed, @Nullable Throwable failure) {
        if (!closed) {
            log.warn("A message of topic {} could not be handled: it is tried again", topic.name(), failure);
        }
        outcomes.released(claimed);
    }

    /** Asks until the database responds: without the database no other message can be handled either. */
    private boolean isGone(InFlightMessage claimed) {
        Backoff backoff = new Backoff();
        while (!closed) {
            try {
                return !transactions.store().gone(List.of(claimed.claim())).isEmpty();
            } catch (PostriderException e) {
                log.debug("It is not known yet whether a message of topic {} was handled", topic.name(), e);
                pause(backoff.next());
            }
        }
        return false;
    }

    /** Waits while the lease is being extended, which is one statement. */
    private void reserveRow(InFlightMessage claimed) {
        while (!claimed.tryReserveRow()) {
            pause(A_MOMENT);
        }
    }

    private void pause(Duration time) {
        try {
            closing.await(time);
        } catch (InterruptedException e) {
            log.debug("Interrupted while waiting: by a close, or by a handler that left the interrupt flag set");
        }
    }

    /**
     * Interrupts the handler first. A handler that ignores the interrupt loses its connection, and its writes are
     * rolled back.
     */
    @Override
    public void giveUp(InFlightMessage claimed) {
        HandlerRun run = runs.get(claimed);
        if (run != null && !run.interrupt(claimed)) {
            run.abandon();
            outcomes.decided(claimed, decider.on(claimed, late()));
            run.all().forEach(outcomes::released);
            endSession(run);
        }
    }

    /** Ends the session on another thread: the calling thread extends leases, and the database may block. */
    private void endSession(HandlerRun run) {
        try {
            transactions.threads().endings().execute(run::endSession);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            log.debug("No thread was left to end the session of a handler", e);
            run.endSession();
        }
    }

    private DeliveryResult late() {
        return DeliveryResult.failed("The handler gave no answer within " + topic.handlerTimeout());
    }

    @Override
    public void drain() {
        draining = true;
        List<InFlightMessage> unhandled;
        synchronized (this) {
            unhandled = new ArrayList<>(waiting);
            waiting.clear();
        }
        unhandled.forEach(outcomes::released);
    }

    @Override
    public void close() {
        drain();
        closed = true;
        closing.signal();
        List<HandlerRun> open = List.copyOf(running);
        open.forEach(HandlerRun::abandon);
        boolean reachable = true;
        for (HandlerRun run : open) {
            reachable = reachable && run.endSession();
        }
    }

    /** One transaction with its messages. */
    private final class HandlerRun {

        private final Map<Claim, InFlightMessage> byClaim = new HashMap<>();
        private final Set<InFlightMessage> late = ConcurrentHashMap.newKeySet();
        private final HandlingStore.Transaction transaction;

        // Guarded by the lock of this object
        private @Nullable InFlightMessage current;
        private @Nullable Thread thread;

        HandlerRun(List<InFlightMessage> together) {
            together.forEach(claimed -> byClaim.put(claimed.claim(), claimed));
            List<HandlingStore.Item> items =
                    together.stream().map(HandlerDelivery::item).toList();
            transaction = transactions
                    .store()
                    .transaction(
                            items,
                            new HandlingStore.Terms(this::handle, topic.handlerTimeout(), transactions.handOver()));
        }

        InFlightMessage claimed(Claim claim) {
            InFlightMessage claimed = byClaim.get(claim);
            if (claimed == null) {
                throw new IllegalStateException("a result for a message that is not in this transaction: " + claim);
            }
            return claimed;
        }

        Collection<InFlightMessage> all() {
            return byClaim.values();
        }

        boolean isLate(InFlightMessage claimed) {
            return late.contains(claimed);
        }

        List<HandlingStore.HandlingResult> run() {
            byClaim.values().forEach(HandlerDelivery.this::reserveRow);
            byClaim.values().forEach(claimed -> runs.put(claimed, this));
            running.add(this);
            try {
                if (closed) {
                    transaction.abandon();
                }
                return transaction.run();
            } finally {
                running.remove(this);
                byClaim.values().forEach(runs::remove);
                byClaim.values().forEach(InFlightMessage::freeRow);
            }
        }

        private void handle(Claim claim, Message message, UnitOfWork work) throws Exception {
            InFlightMessage claimed = claimed(claim);
            if (decider.isKnownExpired(claimed)) { // no reading here: the thread has a connection already
                throw new ExpiredException();
            }
            long begun = transactions.platform().nanos();
            begin(claimed);
            TracedSpan.ActiveSpan active = span(claimed, message).enter();
            try {
                handler.handle(claim, message, work);
            } catch (Throwable e) {
                if (transactions.platform().nanos() - begun
                        >= topic.handlerTimeout().toNanos()) {
                    late.add(claimed); // its connection may have been cut at the timeout, before giveUp() was called
                }
                throw e;
            } finally {
                active.close();
                end(claimed);
            }
            if (isLate(claimed)) {
                throw new IllegalStateException("The handler ended too late");
            }
        }

        private synchronized void begin(InFlightMessage claimed) {
            current = claimed;
            thread = Thread.currentThread();
            claimed.startDelivery(transactions.platform(), topic.handlerTimeout());
        }

        /** Clears an interrupt that came too late, so that it does not affect the later work of this thread. */
        private synchronized void end(InFlightMessage claimed) {
            current = null;
            claimed.pauseDelivery();
            if (isLate(claimed)) {
                Thread.interrupted();
            }
        }

        /** @return whether the handler may still end by itself */
        synchronized boolean interrupt(InFlightMessage claimed) {
            if (claimed != current || thread == null) {
                return true;
            }
            if (late.add(claimed)) {
                thread.interrupt();
                claimed.startDelivery(transactions.platform(), PATIENCE);
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

    /** Returns the one span of an attempt, in which the handler may be called again after a rollback. */
    private SafeSpan span(InFlightMessage claimed, Message message) {
        SafeSpan begun = claimed.span();
        if (begun != null) {
            return begun;
        }
        int attempt = claimed.claim().attempt();
        SafeSpan span = isProcessing
                ? transactions.tracing().handle(message, topic.name(), attempt)
                : transactions.tracing().deliver(message, attempt);
        claimed.tracedBy(span);
        return span;
    }

    private static HandlingStore.Item item(InFlightMessage claimed) {
        LaneClaim inLane = claimed.inLane();
        return new HandlingStore.Item(claimed.claim(), inLane == null ? null : inLane.place());
    }
}
