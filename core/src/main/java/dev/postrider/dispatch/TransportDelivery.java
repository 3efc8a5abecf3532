package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.internal.trace.SafeSpan;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.Message;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.trace.TracedSpan;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Passes messages to a transport, which answers asynchronously. The transport is called on a thread of its topic, one
 * message after another. A call that blocks therefore delays only its own topic, and the thread that completes a result
 * never sends the next message. A call that has not returned when its result is overdue is left behind, and another
 * thread continues. A few such calls are allowed; beyond that, messages fail until one of the calls returns.
 * Thread-safe.
 */
final class TransportDelivery implements TopicDelivery {

    /** How much later than the timeout of the transport a result may arrive. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** The largest number of calls of a topic that may be left behind at a time. */
    private static final int MOST_LEFT_BEHIND = 3;

    /**
     * A transport and its threads.
     *
     * @param threads call the transport; one thread for each running call
     */
    record Target(Transport transport, Executor threads, SafeTracing tracing) {

        /** A target without a tracer. */
        Target(Transport transport, Executor threads) {
            this(transport, threads, SafeTracing.NONE);
        }
    }

    private final Target target;
    private final CircuitBreaker breaker;
    private final OutcomeDecider decider;
    private final OutcomeReceiver outcomes;
    private final LeaseValidity.Limit leaseLimit;
    private volatile boolean closed;

    // Guarded by the lock of this object
    private final Deque<InFlightMessage> waiting = new ArrayDeque<>();
    private @Nullable Caller current;
    private int leftBehind;

    TransportDelivery(
            Target target,
            CircuitBreaker breaker,
            OutcomeDecider decider,
            OutcomeReceiver outcomes,
            LeaseValidity.Limit leaseLimit) {
        this.target = target;
        this.breaker = breaker;
        this.decider = decider;
        this.outcomes = outcomes;
        this.leaseLimit = leaseLimit;
    }

    @Override
    public void deliver(InFlightMessage claimed) {
        Caller caller;
        synchronized (this) {
            waiting.add(claimed);
            caller = begin();
        }
        start(caller);
    }

    /** Returns a new caller if there is none and messages are waiting, otherwise null. */
    private @Nullable Caller begin() {
        if (current != null || waiting.isEmpty()) {
            return null;
        }
        current = new Caller();
        return current;
    }

    private void start(@Nullable Caller caller) {
        if (caller == null) {
            failWaitingIfStuck();
            return;
        }
        try {
            target.threads().execute(caller);
        } catch (Throwable e) {
            failWaiting(e);
        }
    }

    /** Calls the transport until no message waits, or another caller has taken over. */
    private final class Caller implements Runnable {

        /** The message of the current call. Guarded by the lock of the delivery. */
        private @Nullable InFlightMessage claimed;

        /** Whether that message was given up before the call returned. Guarded by the same lock. */
        private boolean stuck;

        @Override
        public void run() {
            for (InFlightMessage next = next(this); next != null; next = next(this)) {
                call(next);
                clearInterrupt();
            }
        }
    }

    /** Clears the interrupt flag that a transport left set, so that it does not affect the next message. */
    private static void clearInterrupt() {
        if (Platform.isOwnThread()) {
            Thread.interrupted();
        }
    }

    /**
     * Returns the next message, or null when the caller must end. A caller that was left behind continues if its
     * successor is stuck as well.
     */
    private synchronized @Nullable InFlightMessage next(Caller caller) {
        if (current != caller) {
            leftBehind--;
            if (!isStuck()) {
                return null;
            }
            leftBehind++;
            current = caller;
        }
        InFlightMessage next = waiting.poll();
        caller.claimed = next;
        caller.stuck = false;
        if (next == null) {
            current = null;
        }
        return next;
    }

    private boolean isStuck() {
        return current != null && current.stuck;
    }

    private void call(InFlightMessage claimed) {
        if (claimed.isDecided()) {
            return;
        }
        if (!mayStart(claimed)) {
            outcomes.released(claimed);
            return;
        }
        Outcome instead = decider.insteadOfDelivery(claimed);
        if (instead != null) {
            outcomes.decided(claimed, instead);
            return;
        }
        if (breaker.isOpen() || !mayStart(claimed)) { // once more: the clock of the database may have been read
            outcomes.released(claimed);
            return;
        }
        try {
            send(claimed);
        } catch (Throwable e) {
            decide(claimed, null, e);
        }
    }

    private boolean mayStart(InFlightMessage claimed) {
        return !closed && leaseLimit.allowsStart(claimed.validity());
    }

    private void send(InFlightMessage claimed) {
        claimed.startDelivery(
                leaseLimit.platform(), target.transport().timeout().plus(PATIENCE));
        CompletionStage<DeliveryResult> answer = deliver(claimed.claim(), span(claimed));
        if (answer == null) {
            decide(claimed, null, null);
        } else if (answer instanceof CompletableFuture<DeliveryResult> future && isAnswered(future)) {
            decide(claimed, future.join(), null);
        } else {
            answer.whenComplete((result, failure) -> decide(claimed, result, failure));
        }
    }

    private SafeSpan span(InFlightMessage claimed) {
        Claim claim = claimed.claim();
        SafeSpan span = target.tracing().deliver(claim.message(), claim.attempt());
        claimed.tracedBy(span);
        return span;
    }

    private CompletionStage<DeliveryResult> deliver(Claim claim, SafeSpan span) {
        Message message = claim.message();
        Delivery delivery = new Delivery(message, claim.attempt(), span.contextOr(message.trace()));
        if (target.transport() instanceof HandlerTransport handler) {
            return handler.deliver(delivery, span); // the handler runs in another thread
        }
        TracedSpan.ActiveSpan active = span.enter();
        try {
            return target.transport().deliver(delivery);
        } finally {
            active.close();
        }
    }

    /** Whether the result is there, so that no further stage has to be made for it. */
    private static boolean isAnswered(CompletableFuture<DeliveryResult> answer) {
        return answer.isDone() && !answer.isCompletedExceptionally();
    }

    /**
     * Fails a message whose transport exceeded its timeout. Neither its slot nor the thread that other messages need
     * may stay occupied for ever.
     */
    @Override
    public void giveUp(InFlightMessage claimed) {
        decide(claimed, DeliveryResult.failed("The transport gave no answer within its timeout"), null);
        Caller next = null;
        synchronized (this) {
            if (current != null && current.claimed == claimed) {
                current.stuck = true;
                next = leaveBehind();
            }
        }
        start(next);
    }

    private @Nullable Caller leaveBehind() {
        if (leftBehind >= MOST_LEFT_BEHIND) {
            return null;
        }
        leftBehind++;
        current = null;
        return begin();
    }

    /**
     * Fails the waiting messages when no further call may be left behind: otherwise they would wait until the transport
     * returns.
     */
    private void failWaitingIfStuck() {
        boolean stuck;
        synchronized (this) {
            stuck = leftBehind >= MOST_LEFT_BEHIND && isStuck() && !waiting.isEmpty();
        }
        if (stuck) {
            failWaiting(null);
        }
    }

    private void failWaiting(@Nullable Throwable failure) {
        List<InFlightMessage> unsent;
        synchronized (this) {
            unsent = new ArrayList<>(waiting);
            waiting.clear();
            if (failure != null) {
                current = null; // its thread could not be started
            }
        }
        DeliveryResult late = DeliveryResult.failed("Earlier calls of the transport have not returned");
        unsent.forEach(claimed -> decide(claimed, failure == null ? late : null, failure));
    }

    @Override
    public void drain() {
        closed = true;
        List<InFlightMessage> unsent;
        synchronized (this) {
            unsent = new ArrayList<>(waiting);
            waiting.clear();
        }
        unsent.forEach(outcomes::released);
    }

    @Override
    public void close() {
        drain();
    }

    private void decide(InFlightMessage claimed, @Nullable DeliveryResult result, @Nullable Throwable failure) {
        DeliveryResult answer = failure == null ? result : ThrowableClassifier.classify(claimed, failure);
        if (answer instanceof DeliveryResult.Delivered || answer instanceof DeliveryResult.Rejected) {
            breaker.answered();
        } else {
            breaker.failed(OutcomeDecider.error(answer));
        }
        outcomes.decided(claimed, decider.on(claimed, answer));
    }
}
