package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneStore;
import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers suspects: messages that were in flight on lost nodes and may have killed them.
 *
 * <p>After two losses each topic delivers its suspects one at a time, concurrently with other messages, and notes each
 * of them in its lane before. If the node is lost during such a delivery, the note counts a third loss for that
 * message. The message is then delivered with nothing else in flight on the node. If the node is lost again, this
 * message is the cause: it is buried, and no other message is buried for that loss. A slow topic does not delay the
 * suspects of other topics. The whole node waits only for a message that was noted when a node was lost, and for the
 * messages of one topic at most a tenth of the time. One thread runs it.
 */
final class IsolatedDelivery {

    /** From this number of losses on a message is noted, and delivered one at a time in its topic. */
    static final int SUSPECT = 2;

    /**
     * From this number of losses on a message is delivered with nothing else in flight: it was noted when its node was
     * lost.
     */
    static final int ALONE = 3;

    /** From this number of losses on a message is buried: it was delivered alone when its node was lost. */
    static final int CONVICTED = 4;

    /** The slots are closed for the suspects of one topic for at most one part in this many of all time. */
    private static final int SHARE = 10;

    private static final Duration CHECK_EVERY = Duration.ofMillis(100);

    private final LaneStore store;
    private final Collection<Sequencer> sequencers;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final BiConsumer<InFlightMessage, Outcome> decided;
    private final EventListener events;
    private final Platform time;
    private final Platform.Waiter progress;
    private volatile boolean stopping;

    /** The noted suspect of each topic that is being delivered. */
    private final Map<Sequencer, InFlightMessage> noted = new LinkedHashMap<>();

    /** A note in a lane of the sequencer. */
    private record Note(Sequencer sequencer, Claim claim) {}

    /** The notes that must be removed: their messages are no longer in flight. */
    private final Deque<Note> stale = new ArrayDeque<>();

    /** How long the slots were last closed for a suspect of a topic. */
    private record Closed(long nanos, long endedNanos) {}

    private final Map<Sequencer, Closed> closed = new HashMap<>();

    /** @param progress this thread waits for it, and {@link #progressed} signals it */
    IsolatedDelivery(
            LaneStore store,
            Collection<Sequencer> sequencers,
            InFlight inFlight,
            DeliveryPipeline pipeline,
            BiConsumer<InFlightMessage, Outcome> decided,
            EventListener events,
            Platform time,
            Platform.Waiter progress) {
        this.store = store;
        this.sequencers = List.copyOf(sequencers);
        this.inFlight = inFlight;
        this.pipeline = pipeline;
        this.decided = decided;
        this.events = events;
        this.time = time;
        this.progress = progress;
    }

    static boolean isSuspect(InFlightMessage claimed) {
        return claimed.inLane() != null && claimed.claim().crashes() >= SUSPECT;
    }

    /** Whether no other message may be in flight beside this one. */
    static boolean mustBeAlone(InFlightMessage claimed) {
        return claimed.claim().crashes() >= ALONE;
    }

    Duration runOnce() {
        do {
            RuntimeException failure = removeNotes();
            for (Sequencer sequencer : sequencers) {
                if (!stopping && !noted.containsKey(sequencer) && !hasStaleNote(sequencer)) {
                    failure = first(failure, deliverNext(sequencer));
                }
            }
            if (failure != null) {
                throw failure;
            }
        } while (!noted.isEmpty() && awaitProgress());
        return CHECK_EVERY; // the check is in memory and cheap
    }

    private static @Nullable RuntimeException first(
            @Nullable RuntimeException failure, @Nullable RuntimeException next) {
        return failure == null ? next : failure;
    }

    private boolean hasStaleNote(Sequencer sequencer) {
        return stale.stream().anyMatch(note -> note.sequencer() == sequencer);
    }

    /** Signals that an outcome was decided or written. */
    void progressed() {
        progress.signal();
    }

    void stop() {
        stopping = true;
        progress.signal();
    }

    /** @return the failure; a lane of one topic that cannot be written does not stop the suspects of the others */
    private @Nullable RuntimeException deliverNext(Sequencer sequencer) {
        InFlightMessage next = sequencer.nextSuspect(mayCloseSlots(sequencer));
        if (next == null) {
            return null;
        }
        try {
            deliver(sequencer, next);
            return null;
        } catch (RuntimeException e) {
            return e;
        }
    }

    /**
     * Whether a suspect of this topic may stop the node: for a share of the time, and not while a note of another
     * message is left. A suspect may come back again and again without an attempt, for example while an abandoned
     * handler keeps its row locked.
     */
    private boolean mayCloseSlots(Sequencer sequencer) {
        Closed last = closed.get(sequencer);
        return stale.isEmpty() && (last == null || time.nanos() - last.endedNanos() >= (SHARE - 1) * last.nanos());
    }

    private void deliver(Sequencer sequencer, InFlightMessage next) {
        if (next.claim().crashes() >= CONVICTED) {
            withSlotsClosed(sequencer, () -> bury(next));
            return;
        }
        events.on(new Event.Suspected(next.claim().message(), next.claim().crashes()));
        if (mustBeAlone(next)) {
            withSlotsClosed(sequencer, () -> startIsolated(sequencer, next));
        } else {
            deliverNoted(sequencer, next);
        }
    }

    private void withSlotsClosed(Sequencer sequencer, Runnable step) {
        long begun = time.nanos();
        inFlight.closeSlots();
        try {
            step.run();
        } finally {
            inFlight.openSlots();
            long ended = time.nanos();
            closed.put(sequencer, new Closed(ended - begun, ended));
            sequencers.forEach(Sequencer::slotsFreed);
        }
    }

    /**
     * Buries the message and waits until that is written, with the slots closed. A later message of its key may also
     * kill nodes. If it were sent before, each loss could bring this message back, ahead of the later one.
     */
    private void bury(InFlightMessage claimed) {
        decided.accept(
                claimed,
                new Outcome.Buried(
                        claimed.claim(),
                        DeadReason.WORKER_LOST,
                        "The worker was lost while it delivered this message alone"));
        await(() -> !inFlight.contains(claimed));
    }

    private void startIsolated(Sequencer sequencer, InFlightMessage claimed) {
        await(() -> inFlight.slotsTaken() == 0);
        RuntimeException failure = removeNotes();
        if (failure != null) {
            // If the node were lost now, a message that has ended would get the crash too.
            decided.accept(claimed, new Outcome.Released(claimed.claim()));
            throw failure;
        }
        inFlight.takeSlot(claimed);
        deliverNoted(sequencer, claimed);
        await(() -> !inFlight.contains(claimed));
        failure = removeNotes();
        if (failure != null) {
            throw failure;
        }
    }

    private void deliverNoted(Sequencer sequencer, InFlightMessage claimed) {
        if (stopping || !note(sequencer, claimed)) {
            decided.accept(claimed, new Outcome.Released(claimed.claim()));
            return;
        }
        noted.put(sequencer, claimed);
        pipeline.deliver(claimed);
    }

    /**
     * Notes the message in its lane. If the response is lost, the lane may have the note. The message must get an
     * outcome in that case too: otherwise its key waits for ever.
     */
    private boolean note(Sequencer sequencer, InFlightMessage claimed) {
        try {
            return store.startIsolated(claimed.claim());
        } catch (RuntimeException e) {
            stale.add(new Note(sequencer, claimed.claim()));
            decided.accept(claimed, new Outcome.Released(claimed.claim()));
            throw e;
        }
    }

    /** @return the first failure; the notes of a topic that failed stay for the next round */
    private @Nullable RuntimeException removeNotes() {
        noted.entrySet().removeIf(entry -> {
            boolean isOver = !inFlight.contains(entry.getValue());
            if (isOver) {
                stale.add(new Note(entry.getKey(), entry.getValue().claim()));
            }
            return isOver;
        });
        RuntimeException failure = null;
        Set<Sequencer> failed = new HashSet<>();
        for (Note note : List.copyOf(stale)) {
            if (!failed.contains(note.sequencer())) {
                try {
                    store.endIsolated(note.claim());
                    stale.remove(note);
                } catch (RuntimeException e) {
                    failed.add(note.sequencer());
                    failure = first(failure, e);
                }
            }
        }
        return failure;
    }

    @FunctionalInterface
    private interface Condition {
        boolean isMet();
    }

    private void await(Condition condition) {
        while (!condition.isMet()) {
            if (!awaitProgress()) {
                return;
            }
        }
    }

    /** @return whether to continue */
    private boolean awaitProgress() {
        if (stopping) {
            return false;
        }
        try {
            progress.await(CHECK_EVERY);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return !stopping;
    }
}
