package dev.postrider.admin;

import dev.postrider.message.TopicName;
import java.time.Duration;

/**
 * The number of messages of a topic in each state, and the number of its nodes. Immutable.
 *
 * @param paused whether an operator paused the topic
 * @param nodes the number of live nodes that deliver the topic. A node counts from its start until at most one lease
 *     after its end
 * @param waiting messages that are due and were never attempted
 * @param scheduled messages that are not due yet and were never attempted
 * @param retrying messages whose delivery failed and that will be attempted again
 * @param processing messages that are claimed under a lease
 * @param blocked messages behind the head of a blocked key, on an ordered topic
 * @param parked heads that wait for an operator, on an ordered topic
 * @param dead dead letters
 * @param oldest the age of the oldest message that is still to be delivered, since it was written; zero if there is none.
 *     Messages that are retrying, blocked or parked count; dead letters do not, and scheduled messages only once they are
 *     due
 */
public record TopicStatus(
        TopicName topic,
        boolean paused,
        int nodes,
        long waiting,
        long scheduled,
        long retrying,
        long processing,
        long blocked,
        long parked,
        long dead,
        Duration oldest) {

    /**
     * Returns whether the topic has a backlog and no live node delivers it. Either no node is started, or the
     * configuration of the nodes names another topic.
     */
    public boolean isStranded() {
        return nodes == 0 && backlog() > 0;
    }

    /** Returns the number of messages that are still to be delivered. */
    public long backlog() {
        return waiting + scheduled + retrying + processing + blocked + parked;
    }
}
