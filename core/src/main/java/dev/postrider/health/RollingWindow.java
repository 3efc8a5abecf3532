package dev.postrider.health;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.Platform;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the attempts of this node in the last minutes, by topic, with the error that came most often. Its memory is
 * bounded. Thread-safe.
 */
public final class RollingWindow implements EventListener {

    /** The window moves in steps of this part of its length. */
    private static final int STEPS = 30;

    /** The largest number of different errors that one topic counts in one step. */
    private static final int ERRORS = 20;

    private final Platform platform;
    private final Duration length;
    private final Deque<WindowStep> steps = new ArrayDeque<>();

    /**
     * The attempts of one topic.
     *
     * @param failed attempts that failed, with those that made a message dead or parked it
     * @param frequentError the error that came most often; null without a failure
     * @param frequentErrorCount how often it came; errors that differ only in numbers and ids count together
     */
    public record Attempts(
            long delivered, long failed, @Nullable String frequentError, long frequentErrorCount) {

        /** Returns the part of the attempts that failed, 0 without attempts. */
        public double failureRatio() {
            long all = delivered + failed;
            return all == 0 ? 0 : (double) failed / all;
        }
    }

    private static final class WindowStep {

        final long began;
        final Map<TopicName, Counts> topics = new HashMap<>();

        WindowStep(long began) {
            this.began = began;
        }
    }

    private static final class Counts {

        long delivered;
        long failed;
        final Map<String, Errors> errors = new LinkedHashMap<>();

        void add(Counts other) {
            delivered += other.delivered;
            failed += other.failed;
            other.errors.forEach((print, more) -> errors.merge(print, more, Errors::plus));
        }

        Attempts attempts() {
            return errors.values().stream()
                    .max(Comparator.comparingLong(Errors::count))
                    .map(most -> new Attempts(delivered, failed, most.text(), most.count()))
                    .orElse(new Attempts(delivered, failed, null, 0));
        }
    }

    /** The errors of one fingerprint, with the text of the first. */
    private record Errors(String text, long count) {

        Errors plus(Errors other) {
            return new Errors(text, count + other.count);
        }
    }

    /** @param length the length of the window */
    public RollingWindow(Duration length) {
        this(length, Platform.system());
    }

    RollingWindow(Duration length, Platform platform) {
        this.length = length;
        this.platform = platform;
    }

    /** Returns the length of the window. */
    public Duration length() {
        return length;
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Delivered e) {
            delivered(e.message());
        } else if (event instanceof Event.Failed e) {
            failed(e.message(), e.error());
        } else if (event instanceof Event.Buried e) {
            failed(e.message(), e.error());
        } else if (event instanceof Event.Parked e) {
            failed(e.message(), e.error());
        }
    }

    private synchronized void delivered(Message message) {
        counts(message.topic()).delivered++;
    }

    private void failed(Message message, String error) {
        String fingerprint = ErrorText.fingerprint("", error);
        synchronized (this) {
            Counts counts = counts(message.topic());
            counts.failed++;
            if (counts.errors.size() < ERRORS || counts.errors.containsKey(fingerprint)) {
                counts.errors.merge(fingerprint, new Errors(error, 1), Errors::plus);
            }
        }
    }

    private Counts counts(TopicName topic) {
        removeOld();
        long now = platform.nanos();
        WindowStep last = steps.peekLast();
        if (last == null || now - last.began >= length.toNanos() / STEPS) {
            last = new WindowStep(now);
            steps.addLast(last);
        }
        return last.topics.computeIfAbsent(topic, name -> new Counts());
    }

    private void removeOld() {
        long now = platform.nanos();
        WindowStep first = steps.peekFirst();
        while (first != null && now - first.began > length.toNanos()) {
            steps.removeFirst();
            first = steps.peekFirst();
        }
    }

    /** Returns the attempts of each topic that had one, ordered by name. */
    public synchronized Map<TopicName, Attempts> topics() {
        removeOld();
        Map<TopicName, Counts> sums = new TreeMap<>();
        for (WindowStep step : steps) {
            step.topics.forEach((topic, counts) ->
                    sums.computeIfAbsent(topic, name -> new Counts()).add(counts));
        }
        Map<TopicName, Attempts> attempts = new LinkedHashMap<>();
        sums.forEach((topic, counts) -> attempts.put(topic, counts.attempts()));
        return attempts;
    }
}
