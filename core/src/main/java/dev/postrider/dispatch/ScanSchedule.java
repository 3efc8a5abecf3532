package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The scans that are requested for the topics of this node. Any thread requests them; the claim loop runs them. Thread-safe. */
final class ScanSchedule {

    static final long NEVER = Long.MAX_VALUE;

    private final Duration pollInterval;
    private final Platform time;
    private final Map<TopicName, TopicSchedule> schedules = new LinkedHashMap<>();

    ScanSchedule(List<Topic> topics, Duration pollInterval, Platform time) {
        this.pollInterval = pollInterval;
        this.time = time;
        topics.forEach(topic -> schedules.put(topic.name(), new TopicSchedule(topic, time.nanos())));
    }

    Duration pollInterval() {
        return pollInterval;
    }

    /** The schedules of the topics, in the order of their declaration. */
    List<TopicSchedule> topics() {
        return List.copyOf(schedules.values());
    }

    /** Requests a scan of every topic. */
    void scanNow() {
        schedules.values().forEach(TopicSchedule::scanNow);
    }

    /** Requests a scan of this topic. */
    void scanNow(TopicName topic) {
        TopicSchedule schedule = schedules.get(topic);
        if (schedule != null) {
            schedule.scanNow();
        }
    }

    /**
     * Requests a scan of this topic after a delay. A delay above the poll interval is ignored: a poll will find the
     * message.
     */
    void scanAfter(TopicName topic, Duration delay) {
        TopicSchedule schedule = schedules.get(topic);
        if (schedule != null && delay.compareTo(pollInterval) <= 0) {
            schedule.dueAt(time.nanos() + delay.toNanos());
        }
    }

    /** Requests a scan of this topic for new messages, and one for due messages. */
    void scanForAll(TopicName topic) {
        scanNow(topic);
        scanAfter(topic, Duration.ZERO);
    }

    /** Prevents scans of this topic while its circuit breaker is open. */
    void pause(TopicName topic, Duration pause) {
        TopicSchedule schedule = schedules.get(topic);
        if (schedule != null) {
            schedule.pauseUntil(time.nanos() + pause.toNanos());
        }
    }

    /** When to scan for the messages of one topic. All times are of the monotonic clock. Thread-safe. */
    static final class TopicSchedule {

        private final Topic topic;
        private final Backoff backoff = new Backoff();
        private boolean requested;
        private long dueAt = NEVER;
        private long notBefore;
        private long lastClaim;

        TopicSchedule(Topic topic, long now) {
            this.topic = topic;
            this.notBefore = now;
            this.lastClaim = now - Duration.ofHours(1).toNanos();
        }

        Topic topic() {
            return topic;
        }

        /** Requests a scan: there may be messages to claim. */
        synchronized void scanNow() {
            requested = true;
        }

        /** Requests a scan at this time. The earliest request is kept. */
        synchronized void dueAt(long nanos) {
            if (dueAt == NEVER || nanos - dueAt < 0) {
                dueAt = nanos;
            }
        }

        /** The nanoseconds until the next scan: 0 or less for now, {@link #NEVER} if no scan is requested. */
        synchronized long waitFrom(long now) {
            if (!requested && dueAt == NEVER) {
                return NEVER;
            }
            return Math.max(requested ? 0 : dueAt - now, notBefore - now);
        }

        /**
         * Starts a scan. Called before the statement is sent, so that a wake-up during the statement counts for the
         * next scan.
         *
         * @return whether a message was known to be due, and not only possible
         */
        synchronized boolean begin(long now) {
            boolean due = dueAt != NEVER && dueAt - now <= 0;
            requested = false;
            dueAt = due ? NEVER : dueAt;
            return due;
        }

        /** Requests the same scan again after a failure. */
        synchronized void repeat(boolean due, long now) {
            requested = true;
            if (due) {
                dueAt(now);
            }
        }

        synchronized void claimed(long now) {
            lastClaim = now;
            backoff.reset();
        }

        synchronized long sinceClaim(long now) {
            return now - lastClaim;
        }

        /** Prevents scans before this time, and requests one for this time. */
        synchronized void pauseUntil(long nanos) {
            notBefore = nanos;
            requested = true;
        }

        /** Prevents scans for a pause that grows with each failure. */
        synchronized Duration failed(long now) {
            Duration pause = backoff.next();
            notBefore = now + pause.toNanos();
            return pause;
        }
    }
}
