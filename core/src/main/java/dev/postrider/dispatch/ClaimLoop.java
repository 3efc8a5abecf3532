package dev.postrider.dispatch;

import dev.postrider.dispatch.ScanSchedule.TopicSchedule;
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
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Claims messages for the topics that may have work and have most, each with its own claimer. Scans again at once after
 * a full batch or a wake-up, and otherwise when a message comes due. Messages that other nodes wrote are found at the
 * poll interval. One thread runs it; wake-ups come from any thread.
 */
final class ClaimLoop {

    /** How long to wait for more free slots, instead of a claim for each of them. */
    private static final Duration GATHER = Duration.ofMillis(5);

    /** The delay of the next poll after a message came due, because others often follow. */
    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final ScanSchedule scans;
    private final Map<Topic, Claimer> claimers;
    private final Platform time;
    private final EventListener events;
    private final List<TopicSchedule> order;
    private long nextPoll;

    /** @param claimers the claimer of each topic */
    ClaimLoop(ScanSchedule scans, Map<Topic, Claimer> claimers, Platform time, EventListener events) {
        this.scans = scans;
        this.claimers = claimers;
        this.time = time;
        this.events = events;
        this.nextPoll = time.nanos();
        this.order = new ArrayList<>(scans.topics());
    }

    private Claimer claimer(Topic topic) {
        return Objects.requireNonNull(claimers.get(topic));
    }

    Duration runOnce() {
        if (time.nanos() - nextPoll >= 0) {
            poll();
        }
        long pause = ScanSchedule.NEVER;
        Collections.rotate(order, -1); // the first topic takes scarce slots: each topic is first in turn
        for (TopicSchedule schedule : order) {
            pause = Math.min(pause, take(schedule));
        }
        return Duration.ofNanos(Math.max(Math.min(pause, nextPoll - time.nanos()), 0));
    }

    /**
     * Claims for every topic, regardless of its schedule. A failure is thrown to the caller.
     *
     * @param step runs the claim of each topic
     */
    void claimEach(Consumer<Runnable> step) {
        order.forEach(schedule -> step.accept(() -> claimNow(schedule)));
    }

    private void claimNow(TopicSchedule schedule) {
        schedule.dueAt(time.nanos());
        int most = claimer(schedule.topic()).freeCapacity(schedule.topic());
        if (most > 0) {
            claim(schedule, most);
        }
    }

    /** Runs one statement for all topics with the same claimer. */
    private void poll() {
        Map<Claimer, List<TopicName>> alike = new LinkedHashMap<>();
        claimers.forEach((topic, claimer) ->
                alike.computeIfAbsent(claimer, absent -> new ArrayList<>()).add(topic.name()));
        alike.forEach(this::poll);
        nextPoll = time.nanos() + scans.pollInterval().toNanos();
    }

    private void poll(Claimer claimer, List<TopicName> topics) {
        try {
            claimer.nextDue(topics).forEach(scans::scanAfter);
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            // One topic can make the common statement fail, so each topic is scanned by itself.
            events.on(new Event.StoreFailed("poll", ThrowableClassifier.text(e), scans.pollInterval()));
            topics.forEach(scans::scanNow);
        }
    }

    /**
     * Claims if the topic is due, and returns the nanoseconds until its next scan. A topic that fails does not stop the
     * others.
     */
    private long take(TopicSchedule schedule) {
        try {
            return claimIfDue(schedule);
        } catch (StoreUnavailableException e) {
            throw e; // the topic is not the cause
        } catch (RuntimeException e) {
            Duration pause = schedule.failed(time.nanos());
            events.on(new Event.StoreFailed("claim " + schedule.topic().name(), ThrowableClassifier.text(e), pause));
            return pause.toNanos();
        }
    }

    private long claimIfDue(TopicSchedule schedule) {
        long wait = schedule.waitFrom(time.nanos());
        if (wait > 0) {
            return wait;
        }
        int most = claimer(schedule.topic()).freeCapacity(schedule.topic());
        if (most <= 0) {
            return ScanSchedule.NEVER; // woken when a slot becomes free
        }
        long gather = GATHER.toNanos() - schedule.sinceClaim(time.nanos());
        if (gather > 0 && most < claimer(schedule.topic()).capacity(schedule.topic()) / 2) {
            return gather;
        }
        claim(schedule, most);
        return schedule.waitFrom(time.nanos());
    }

    private void claim(TopicSchedule schedule, int most) {
        boolean due = schedule.begin(time.nanos());
        try {
            boolean more = claimer(schedule.topic()).claim(schedule.topic(), most, due);
            schedule.claimed(time.nanos());
            if (more) {
                schedule.scanNow();
            }
            if (due) {
                long soon = time.nanos() + ASK_AGAIN.toNanos();
                nextPoll = soon - nextPoll < 0 ? soon : nextPoll;
            }
        } catch (RuntimeException e) {
            schedule.repeat(due, time.nanos());
            throw e;
        }
    }
}
