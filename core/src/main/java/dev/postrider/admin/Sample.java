package dev.postrider.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounded counts of the database, taken by one node for all. Every count ends at a limit, so a large backlog makes a
 * sample less exact, not slower. Immutable.
 *
 * @param takenAt when it was taken, by the clock of the database
 * @param node the node that took it
 * @param took how long that lasted
 * @param topics the registered topics, ordered by name, at most 1000
 * @param idempotencyKeys the marks of used idempotency keys
 * @param inboxMarks the marks of received messages
 * @param commands the commands in each state
 * @param stuckCommands the commands in progress whose lease has ended
 * @param oldestTransaction the oldest transaction that the database user may see; null if there is none
 */
public record Sample(
        Instant takenAt,
        String node,
        Duration took,
        List<TopicSample> topics,
        Count idempotencyKeys,
        Count inboxMarks,
        Map<StoredCommand.State, Count> commands,
        Count stuckCommands,
        @Nullable OldestTransaction oldestTransaction) {

    /** The number of attempts from which on a message counts as {@link TopicSample#attempted()}. */
    public static final int ATTEMPTS = 3;

    /** Samples use at most this part of the time of one connection. */
    private static final int SHARE = 20;

    public Sample {
        topics = List.copyOf(topics);
        commands = Map.copyOf(commands);
    }

    /** Returns the time until the next sample: the interval, or longer when samples take long. */
    public Duration pause(Duration interval) {
        Duration affordable = took.multipliedBy(SHARE);
        return interval.compareTo(affordable) >= 0 ? interval : affordable;
    }

    /** Returns the sample as a JSON object. Times are in milliseconds. */
    public String toJson() {
        return SampleJson.write(this);
    }

    /**
     * Reads the JSON object of {@link #toJson}. It ignores members that it does not know and takes missing counts as
     * zero, so that nodes of different versions read each other's samples.
     *
     * @throws IllegalArgumentException when the text is no such object
     */
    public static Sample ofJson(String json) {
        return SampleJson.read(json);
    }
}
