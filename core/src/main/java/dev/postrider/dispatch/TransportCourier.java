package dev.postrider.dispatch;

import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Hands messages to a transport, which answers when it likes. The transport is called on a thread of the topic's own, one message after
 * another: a call that blocks delays its own topic only, and the thread that brings an answer never sends the next message. A call that
 * has not returned when its answer is overdue is left behind, and another thread goes on; a few such calls are allowed, and then messages
 * fail until one returns. Thread-safe.
 */
final class TransportCourier implements Courier {

    /** How much later than promised an answer may come. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** How many calls of a topic may be left behind at a time. */
    private static final int MOST_LEFT_BEHIND = 3;

    /**
     * What it works with.
     *
     * @param threads where the transport is called; a thread for each call under way
     * @param lastStart how old a lease may be for a delivery to begin under it
     */
    record Means(Executor threads, Duration lastStart, Time time) {}

    private final Transport transport;
    private final Breaker breaker;
    private final Verdict verdict;
    private final BiConsumer<Held, Outcome> decided;
    private final Means means;
    private volatile boolean closed;

    // Under the lock of this object
    private final Deque<Held> waiting = new ArrayDeque<>();
    private @Nullable Caller current;
    private int leftBehind;

    TransportCourier(
            Transport transport, Breaker breaker, Verdict verdict, BiConsumer<Held, Outcome> decided, Means means) {
        this.transport = transport;
        this.breaker = breaker;
        this.verdict = verdict;
        this.decided = decided;
        this.means = means;
    }

    @Override
    public void carry(Held held) {
        Caller caller;
        synchronized (this) {
            waiting.add(held);
            caller = begin();
        }
        start(caller);
    }

    /** A new caller if there is none and something waits for one. */
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
            means.threads().execute(caller);
        } catch (Throwable e) {
            failWaiting(e);
        }
    }

    /** Calls the transport until nothing waits, or another one has taken over. */
    private final class Caller implements Runnable {

        /** What it calls the transport for. Under the lock of the courier. */
        private @Nullable Held held;

        /** Whether that message was given up before the call returned. Under the same lock. */
        private boolean stuck;

        @Override
        public void run() {
            for (Held next = next(this); next != null; next = next(this)) {
                call(next);
                forgetInterruption();
            }
        }
    }

    /** What a transport left behind in a thread of ours is not the next message's business. */
    private static void forgetInterruption() {
        if (Thread.currentThread() instanceof OwnThread) {
            Thread.interrupted();
        }
    }

    /** Null when the caller is to end. One that was left behind goes on if the one that took its place is stuck as well. */
    private synchronized @Nullable Held next(Caller caller) {
        if (current != caller) {
            leftBehind--;
            if (!isStuck()) {
                return null;
            }
            leftBehind++;
            current = caller;
        }
        Held next = waiting.poll();
        caller.held = next;
        caller.stuck = false;
        if (next == null) {
            current = null;
        }
        return next;
    }

    private boolean isStuck() {
        return current != null && current.stuck;
    }

    private void call(Held held) {
        if (held.isDecided()) {
            return;
        }
        if (closed
                || breaker.isAtRest()
                || held.tenure().isLost()
                || held.tenure().sinceRenewal(means.time()).compareTo(means.lastStart()) >= 0) {
            decided.accept(held, new Outcome.Released(held.claim()));
            return;
        }
        try {
            send(held);
        } catch (Throwable e) {
            decide(held, null, e);
        }
    }

    private void send(Held held) {
        held.begin(means.time(), transport.timeout().plus(PATIENCE));
        CompletionStage<DeliveryResult> answer = transport.deliver(
                new Delivery(held.claim().message(), held.claim().attempt()));
        if (answer == null) {
            decide(held, null, null);
        } else {
            answer.whenComplete((result, failure) -> decide(held, result, failure));
        }
    }

    /** A transport that breaks its word must not keep a slot for ever, nor the thread that others wait for. */
    @Override
    public void giveUp(Held held) {
        decide(held, DeliveryResult.failed("The transport gave no answer within its timeout"), null);
        Caller next = null;
        synchronized (this) {
            if (current != null && current.held == held) {
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

    /** When no further call may be left behind, what waits would wait for as long as the transport likes. */
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
        List<Held> stranded;
        synchronized (this) {
            stranded = new ArrayList<>(waiting);
            waiting.clear();
            if (failure != null) {
                current = null; // its thread could not be started
            }
        }
        DeliveryResult late = DeliveryResult.failed("Earlier calls of the transport have not returned");
        stranded.forEach(held -> decide(held, failure == null ? late : null, failure));
    }

    @Override
    public void close() {
        closed = true;
    }

    private void decide(Held held, @Nullable DeliveryResult result, @Nullable Throwable failure) {
        DeliveryResult answer = failure == null ? result : Failures.classify(held.topic(), failure);
        if (answer instanceof DeliveryResult.Delivered || answer instanceof DeliveryResult.Rejected) {
            breaker.answered();
        } else {
            breaker.failed(Verdict.error(answer));
        }
        decided.accept(held, verdict.on(held, answer));
    }
}
