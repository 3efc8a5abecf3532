package dev.postrider.dispatch;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Claims messages for the topics that may have work and have room, each with its own claimer. Scans again at once after
 * a full batch or a wake-up, and otherwise when a message comes due. Messages that other nodes wrote are found at the
 * poll interval. One thread runs it; wake-ups come from any thread.
 */
final class ClaimLoop {

    /** How long to wait for more free slots, instead of a claim for each of them. */
    private static final Duration GATHER = Duration.ofMillis(5);

    /** The delay of the next poll after a message came due, because others often follow. */
    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final Duration pollInterval;
    private final Platform time;
    private final EventListener events;
    private final Map<TopicName, TopicSchedule> turns = new LinkedHashMap<>();
    private final List<TopicSchedule> order;
    private long nextPoll;

    /** @param claimers the claimer of each topic */
    ClaimLoop(Map<Topic, Claimer> claimers, Duration pollInterval, Platform time, EventListener events) {
        this.pollInterval = pollInterval;
        this.time = time;
        this.events = events;
        this.nextPoll = time.nanos();
        claimers.forEach((topic, claimer) -> turns.put(topic.name(), new TopicSchedule(topic, claimer, time.nanos())));
        this.order = new ArrayList<>(turns.values());
    }

    /** Requests a scan of every topic. */
    void scanNow() {
        turns.values().forEach(TopicSchedule::want);
    }

    /** Requests a scan of this topic. */
    void scanNow(TopicName topic) {
        TopicSchedule turn = turns.get(topic);
        if (turn != null) {
            turn.want();
        }
    }

    /**
     * Requests a scan of this topic after a delay. A delay above the poll interval is ignored: a poll will find the
     * message.
     */
    void scanAfter(TopicName topic, Duration delay) {
        TopicSchedule turn = turns.get(topic);
        if (turn != null && delay.compareTo(pollInterval) <= 0) {
            turn.dueAt(time.nanos() + delay.toNanos());
        }
    }

    /** Prevents scans of this topic for this pause. */
    void rest(TopicName topic, Duration pause) {
        TopicSchedule turn = turns.get(topic);
        if (turn != null) {
            turn.rest(time.nanos() + pause.toNanos());
        }
    }

    Duration runOnce() {
        if (time.nanos() - nextPoll >= 0) {
            poll();
        }
        long pause = TopicSchedule.NEVER;
        Collections.rotate(order, -1); // the first topic takes scarce slots: each topic is first in turn
        for (TopicSchedule turn : order) {
            pause = Math.min(pause, take(turn));
        }
        return Duration.ofNanos(Math.max(Math.min(pause, nextPoll - time.nanos()), 0));
    }

    /** Claims for every topic, regardless of its schedule. A failure is thrown to the caller. */
    void claimEach() {
        for (TopicSchedule turn : order) {
            turn.dueAt(time.nanos());
            int room = turn.claimer().room(turn.topic());
            if (room > 0) {
                claim(turn, room);
            }
        }
    }

    /** Runs one statement for all topics with the same claimer. */
    private void poll() {
        Map<Claimer, List<TopicName>> alike = new LinkedHashMap<>();
        turns.forEach((name, turn) -> alike.computeIfAbsent(turn.claimer(), claimer -> new ArrayList<>())
                .add(name));
        alike.forEach(this::poll);
        nextPoll = time.nanos() + pollInterval.toNanos();
    }

    private void poll(Claimer claimer, List<TopicName> topics) {
        try {
            claimer.nextDue(topics).forEach(this::scanAfter);
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            // One topic can make the common statement fail, so each topic is scanned by itself.
            events.on(new Event.StoreFailed("poll", ThrowableClassifier.text(e), pollInterval));
            topics.forEach(this::scanNow);
        }
    }

    /**
     * Claims if the topic is due, and returns the nanoseconds until its next scan. A topic that fails does not stop the
     * others.
     */
    private long take(TopicSchedule turn) {
        try {
            return claimIfDue(turn);
        } catch (StoreUnavailableException e) {
            throw e; // the topic is not the cause
        } catch (RuntimeException e) {
            Duration pause = turn.failed(time.nanos());
            events.on(new Event.StoreFailed("claim " + turn.topic().name(), ThrowableClassifier.text(e), pause));
            return pause.toNanos();
        }
    }

    private long claimIfDue(TopicSchedule turn) {
        long wait = turn.waitFrom(time.nanos());
        if (wait > 0) {
            return wait;
        }
        int room = turn.claimer().room(turn.topic());
        if (room <= 0) {
            return TopicSchedule.NEVER; // woken when a slot becomes free
        }
        long gather = GATHER.toNanos() - turn.sinceClaim(time.nanos());
        if (gather > 0 && room < turn.claimer().capacity(turn.topic()) / 2) {
            return gather;
        }
        claim(turn, room);
        return turn.waitFrom(time.nanos());
    }

    private void claim(TopicSchedule turn, int room) {
        boolean due = turn.begin(time.nanos());
        try {
            boolean more = turn.claimer().claim(turn.topic(), room, due);
            turn.claimed(time.nanos());
            if (more) {
                turn.want();
            }
            if (due) {
                long soon = time.nanos() + ASK_AGAIN.toNanos();
                nextPoll = soon - nextPoll < 0 ? soon : nextPoll;
            }
        } catch (RuntimeException e) {
            turn.again(due, time.nanos());
            throw e;
        }
    }
}
