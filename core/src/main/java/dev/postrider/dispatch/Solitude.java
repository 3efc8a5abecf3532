package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneStore;
import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers messages that may have killed a node: each alone, with nothing else under way, and noted in its lane before. If the node
 * is lost then, it was that message, and nobody else has to answer for it. Slow, and meant for the few messages that were in the
 * hands of a node that was lost twice. One thread runs it.
 */
final class Solitude {

    /** How often a message may have been in the hands of a lost node before it is delivered alone. */
    static final int SUSPECTED = 2;

    /** A message that got here was delivered alone when its node was lost. */
    private static final int CONVICTED = 3;

    private static final Duration LOOK_EVERY = Duration.ofMillis(100);

    private final LaneStore store;
    private final Collection<Sequencer> sequencers;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final BiConsumer<Held, Outcome> decided;
    private final EventListener events;
    private final Waiter progress;
    private volatile boolean stopping;

    /** What the lane may say is delivered alone, although it no longer is: an answer was lost on the way. */
    private @Nullable Claim noted;

    /** @param progress what this thread waits for, and {@link #progressed} signals */
    Solitude(
            LaneStore store,
            Collection<Sequencer> sequencers,
            InFlight inFlight,
            DeliveryPipeline pipeline,
            BiConsumer<Held, Outcome> decided,
            EventListener events,
            Waiter progress) {
        this.store = store;
        this.sequencers = List.copyOf(sequencers);
        this.inFlight = inFlight;
        this.pipeline = pipeline;
        this.decided = decided;
        this.events = events;
        this.progress = progress;
    }

    static boolean isSuspect(Held held) {
        return held.inLane() != null && held.claim().crashes() >= SUSPECTED;
    }

    Duration runOnce() {
        endLast();
        for (Sequencer sequencer : sequencers) {
            for (Held next = sequencer.nextSuspect(); next != null && !stopping; next = sequencer.nextSuspect()) {
                deliver(next);
            }
        }
        return LOOK_EVERY; // in memory, so it costs nothing
    }

    /** An outcome was decided or written. */
    void progressed() {
        progress.signal();
    }

    void stop() {
        stopping = true;
        progress.signal();
    }

    private void deliver(Held held) {
        inFlight.closeSlots();
        try {
            if (held.claim().crashes() >= CONVICTED) {
                bury(held);
            } else {
                await(() -> inFlight.slotsTaken() == 0);
                deliverAlone(held);
            }
        } finally {
            inFlight.openSlots();
            sequencers.forEach(Sequencer::slotsFreed);
        }
    }

    /** What is behind it may kill as well, and would do so for ever if this one were there again each time, ahead of it. */
    private void bury(Held held) {
        Outcome buried = new Outcome.Buried(
                held.claim(), DeadReason.WORKER_LOST, "The worker was lost while it delivered this message alone");
        decided.accept(held, Verdict.inLane(held.topic(), Objects.requireNonNull(held.inLane()), buried));
        await(() -> !inFlight.isHeld(held));
    }

    private void deliverAlone(Held held) {
        if (stopping || !isNoted(held)) {
            decided.accept(held, new Outcome.Released(held.claim()));
            return;
        }
        events.on(new Event.Suspected(held.claim().message(), held.claim().crashes()));
        inFlight.takeSlot(held);
        pipeline.deliver(held);
        await(() -> !inFlight.isHeld(held));
        endLast();
    }

    /** Nobody else has the message in his hands any more: without an outcome it would stay there, and keep its key waiting. */
    private boolean isNoted(Held held) {
        noted = held.claim();
        try {
            return store.deliverAlone(held.claim());
        } catch (RuntimeException e) {
            decided.accept(held, new Outcome.Released(held.claim()));
            throw e;
        }
    }

    private void endLast() {
        if (noted != null) {
            store.endAlone(noted);
            noted = null;
        }
    }

    @FunctionalInterface
    private interface Condition {
        boolean isMet();
    }

    private void await(Condition condition) {
        while (!stopping && !condition.isMet()) {
            try {
                progress.await(LOOK_EVERY);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
