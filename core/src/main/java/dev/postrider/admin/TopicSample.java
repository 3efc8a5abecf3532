package dev.postrider.admin;

import dev.postrider.message.TopicName;
import java.time.Duration;

/**
 * The counts of one topic in a {@link Sample}. Immutable.
 *
 * @param paused whether an operator paused the topic
 * @param nodes the number of live nodes that deliver the topic
 * @param waiting messages that are due and were never attempted
 * @param scheduled messages that are not due yet and were never attempted
 * @param retrying messages whose delivery failed and that will be attempted again
 * @param processing messages that are claimed under a lease
 * @param blocked messages behind the head of a blocked key, on an ordered topic
 * @param parked heads that wait for an operator, on an ordered topic
 * @param dead dead letters
 * @param blockedKeys blocked keys, on an ordered topic
 * @param attempted messages that are not dead and had at least {@link Sample#ATTEMPTS} attempts
 * @param expiredLeases leases of messages and of lanes that have ended and were not taken over yet
 * @param oldest the age of the oldest message that is due, processing, retrying, blocked or parked; zero if there is
 *     none. When a count ended at its limit, there may be an older message
 */
public record TopicSample(
        TopicName topic,
        boolean paused,
        int nodes,
        Count waiting,
        Count scheduled,
        Count retrying,
        Count processing,
        Count blocked,
        Count parked,
        Count dead,
        Count blockedKeys,
        Count attempted,
        Count expiredLeases,
        Duration oldest) {

    /** Returns the number of messages that are still to be delivered. */
    public Count backlog() {
        return waiting.plus(scheduled)
                .plus(retrying)
                .plus(processing)
                .plus(blocked)
                .plus(parked);
    }

    /** Returns whether the topic has a backlog and no live node delivers it. */
    public boolean isStranded() {
        return nodes == 0 && backlog().isAbove(0);
    }
}
