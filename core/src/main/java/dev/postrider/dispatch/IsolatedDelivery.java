package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Delivers suspects: messages that were in flight on lost nodes and may have killed them.
 *
 * <p>After two losses each topic delivers its suspects one at a time, concurrently with other messages, and notes each
 * of them in its lane before. If the node is lost during such a delivery, the note counts a third loss for that
 * message. The message is then delivered with nothing else in flight on the node. If the node is lost again, this
 * message is the cause: it is buried, and no other message is buried for that loss. A slow topic does not delay the
 * suspects of other topics.
 *
 * <p>The whole node waits only for a message that was noted when a node was lost. It waits for the deliveries in flight
 * for a limited time, and does not begin to wait while one of them has run for longer than that. If they do not end in
 * time, the message waits and is tried again, for a longer time and less often. It waits neither for a lane that
 * another session has locked nor for an outcome to be written. The slots are closed for the messages of one topic at
 * most a tenth of the time. One thread runs it.
 */
final class IsolatedDelivery {

    /** From this number of losses on a message is noted, and delivered one at a time in its topic. */
    static final int SUSPECT = 2;

    /**
     * From this number of losses on a message is delivered with nothing else in flight: it was noted when its node was
     * lost.
     */
    static final int EXCLUSIVE = 3;

    /** From this number of losses on a message is buried: it was delivered alone when its node was lost. */
    static final int BURIED = 4;

    /**
     * The slots are closed for the suspects of one topic for at most one part in this many of all time, and the node
     * waits for deliveries in flight for at most one part of the time that the suspect has waited.
     */
    private static final int SHARE = 10;

    /** The node waits for deliveries in flight for this part of the lease at least, and for one lease at most. */
    private static final int SHORTEST_WAIT = 6;

    /** The pause of a topic after a lane was locked. */
    private static final Duration LOCKED_PAUSE = Duration.ofMillis(100);

    private static final Duration CHECK_EVERY = Duration.ofMillis(100);

    private final LaneStore store;
    private final Iterable<Sequencer> sequencers;
    private final InFlight inFlight;
    private final EventListener events;
    private final Duration lease;
    private final Platform time;

    /** The thread waits for it, and {@link #progressed} signals it. */
    private final Platform.Waiter progress;

    private volatile boolean stopping;

    /** The noted suspect of each topic that is being delivered. */
    private final Map<Sequencer, InFlightMessage> noted = new LinkedHashMap<>();

    /** A note in a lane of the sequencer. */
    private record Note(Sequencer sequencer, Claim claim) {}

    /** The notes that must be removed: the outcomes of their messages are decided. */
    private final Deque<Note> stale = new ArrayDeque<>();

    /** How long the slots were last closed for a suspect of a topic. */
    private record Closed(long nanos, long endedNanos) {}

    private final Map<Sequencer, Closed> closed = new HashMap<>();

    private @Nullable Closed lastClosed;

    /** Since when a suspect of a topic has waited for a node with nothing else in flight. */
    private final Map<Sequencer, Long> waitingSince = new HashMap<>();

    /** When a lane of a topic was last locked by another session. */
    private final Map<Sequencer, Long> lockedSince = new HashMap<>();

    IsolatedDelivery(
            LaneStore store,
            Iterable<Sequencer> sequencers,
            InFlight inFlight,
            NodeSettings settings,
            Platform platform) {
        this.store = store;
        this.sequencers = sequencers;
        this.inFlight = inFlight;
        this.events = settings.events();
        this.lease = settings.options().lease();
        this.time = platform;
        this.progress = platform.waiter();
    }

    static boolean isSuspect(InFlightMessage claimed) {
        return claimed.inLane() != null && claimed.claim().crashes() >= SUSPECT;
    }

    /** Whether no other message may be in flight beside this one. */
    static boolean mustBeExclusive(InFlightMessage claimed) {
        return claimed.claim().crashes() >= EXCLUSIVE;
    }

    static boolean mustBeBuried(InFlightMessage claimed) {
        return claimed.claim().crashes() >= BURIED;
    }

    Duration runOnce() {
        do {
            RuntimeException failure = removeNotes();
            for (Sequencer sequencer : sequencers) {
                if (!stopping && !noted.containsKey(sequencer) && !hasStaleNote(sequencer) && !isPaused(sequencer)) {
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

    private boolean isPaused(Sequencer sequencer) {
        Long since = lockedSince.get(sequencer);
        return since != null && time.nanos() - since < LOCKED_PAUSE.toNanos();
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
        boolean waits = sequencer.hasExclusiveSuspect();
        if (waits) {
            waitingSince.putIfAbsent(sequencer, time.nanos());
        } else {
            waitingSince.remove(sequencer);
        }
        InFlightMessage next = sequencer.nextSuspect(waits && mayCloseSlots(sequencer));
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
     * Whether a suspect of this topic may stop the node: for a share of the time, not while a note of another message is
     * left, and not while a delivery has run for so long that it will hardly end in time. A suspect may come back again
     * and again without an attempt, for example while an abandoned handler keeps its row locked. After the suspect of
     * any topic the slots are open for at least as long as they were closed.
     */
    private boolean mayCloseSlots(Sequencer sequencer) {
        Duration limit = limit(sequencer);
        return stale.isEmpty()
                && hasPassed(closed.get(sequencer), SHARE - 1)
                && hasPassed(lastClosed, 1)
                && inFlight.all().stream().noneMatch(claimed -> claimed.isBeingDeliveredForLongerThan(limit, time));
    }

    private boolean hasPassed(@Nullable Closed last, int times) {
        return last == null || time.nanos() - last.endedNanos() >= times * last.nanos();
    }

    /** How long the node may wait for the deliveries in flight, for a suspect of this topic. */
    private Duration limit(Sequencer sequencer) {
        long waited = time.nanos() - waitingSince.getOrDefault(sequencer, time.nanos());
        long shortest = lease.toNanos() / SHORTEST_WAIT;
        return Duration.ofNanos(Math.min(Math.max(waited / SHARE, shortest), lease.toNanos()));
    }

    private void deliver(Sequencer sequencer, InFlightMessage next) {
        if (mustBeBuried(next)) {
            bury(sequencer, next);
        } else if (mustBeExclusive(next)) {
            deliverExclusively(sequencer, next);
        } else if (note(sequencer, next) && take(sequencer, next)) {
            send(sequencer, next);
        }
    }

    /** Buries the message. Its key continues when that is written. */
    private void bury(Sequencer sequencer, InFlightMessage claimed) {
        if (sequencer.takeSuspect(claimed)) {
            Outcome buried = new Outcome.Buried(
                    claimed.claim(),
                    DeadReason.WORKER_LOST,
                    "The worker was lost while it delivered this message alone");
            sequencer.decided(
                    claimed, OutcomeDecider.inLane(claimed.topic(), Objects.requireNonNull(claimed.inLane()), buried));
        }
    }

    /** Delivers the message with nothing else in flight. A suspect whose lane cannot be noted stops no other topic. */
    private void deliverExclusively(Sequencer sequencer, InFlightMessage claimed) {
        if (!removeNote(sequencer, claimed)) {
            return;
        }
        Duration limit = limit(sequencer);
        long begun = time.nanos();
        inFlight.closeSlots();
        try {
            if (await(() -> inFlight.slotsWithoutOutcome() == 0, limit)) {
                deliverInEmptyNode(sequencer, claimed, limit);
            }
        } finally {
            inFlight.openSlots();
            long ended = time.nanos();
            lastClosed = new Closed(ended - begun, ended);
            closed.put(sequencer, lastClosed);
            sequencers.forEach(Sequencer::send);
        }
    }

    /** If the node were lost while a note of another message is left, that message would get the crash too. */
    private void deliverInEmptyNode(Sequencer sequencer, InFlightMessage claimed, Duration limit) {
        throwFirst(removeNotes());
        if (!stale.isEmpty() || !note(sequencer, claimed) || !take(sequencer, claimed)) {
            return;
        }
        inFlight.takeSlot(claimed);
        waitingSince.remove(sequencer);
        send(sequencer, claimed);
        while (!claimed.isDecided() && awaitProgress()) {
            // its transport or its handler has a time limit
        }
        throwFirst(removeNotes());
        await(
                () -> removeNotes() == null && stale.isEmpty(),
                limit); // otherwise the loss of the node by another message would count for it
    }

    private static void throwFirst(@Nullable RuntimeException failure) {
        if (failure != null) {
            throw failure;
        }
    }

    /** Takes a noted suspect. One that was released meanwhile leaves a note. */
    private boolean take(Sequencer sequencer, InFlightMessage claimed) {
        boolean takes = sequencer.takeSuspect(claimed);
        if (!takes) {
            stale.add(new Note(sequencer, claimed.claim()));
        }
        return takes;
    }

    private void send(Sequencer sequencer, InFlightMessage claimed) {
        events.on(new Event.Suspected(claimed.claim().message(), claimed.claim().crashes()));
        noted.put(sequencer, claimed);
        sequencer.sendSuspect(claimed);
    }

    /**
     * Notes the message in its lane. If the response is lost, the lane may have the note, and the message is released.
     *
     * @return false if the lane is locked or lost: then the message stays a suspect of its topic
     */
    private boolean note(Sequencer sequencer, InFlightMessage claimed) {
        try {
            return unlessLocked(sequencer, store.startIsolated(claimed.claim()));
        } catch (RuntimeException e) {
            stale.add(new Note(sequencer, claimed.claim()));
            if (sequencer.takeSuspect(claimed)) {
                sequencer.decided(claimed, new Outcome.Released(claimed.claim()));
            }
            throw e;
        }
    }

    /** @return false if the lane is locked */
    private boolean removeNote(Sequencer sequencer, InFlightMessage claimed) {
        return unlessLocked(sequencer, store.endIsolated(claimed.claim()));
    }

    private boolean unlessLocked(Sequencer sequencer, boolean done) {
        if (done) {
            lockedSince.remove(sequencer);
        } else {
            lockedSince.put(sequencer, time.nanos());
        }
        return done;
    }

    /** @return the first failure; the notes of a topic that failed or has a locked lane stay for a later round */
    private @Nullable RuntimeException removeNotes() {
        noted.entrySet().removeIf(entry -> {
            boolean isOver = entry.getValue().isDecided();
            if (isOver) {
                stale.add(new Note(entry.getKey(), entry.getValue().claim()));
            }
            return isOver;
        });
        RuntimeException failure = null;
        Set<Sequencer> failed = new HashSet<>();
        for (Note note : List.copyOf(stale)) {
            if (!failed.contains(note.sequencer()) && !isPaused(note.sequencer())) {
                try {
                    if (unlessLocked(note.sequencer(), store.endIsolated(note.claim()))) {
                        stale.remove(note);
                    }
                } catch (RuntimeException e) {
                    failed.add(note.sequencer());
                    failure = first(failure, e);
                }
            }
        }
        return failure;
    }

    @FunctionalInterface
    private interface Awaited {
        boolean isMet();
    }

    /** @return whether the condition is met, within the limit and before this node stops */
    private boolean await(Awaited condition, Duration limit) {
        long begun = time.nanos();
        boolean met = condition.isMet();
        while (!met && time.nanos() - begun < limit.toNanos() && awaitProgress()) {
            met = condition.isMet();
        }
        return met && !stopping;
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
