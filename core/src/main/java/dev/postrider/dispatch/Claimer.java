package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;

/** Claims messages row by row, or reads them from lanes, and passes them on for delivery. */
interface Claimer {

    /** The number of messages of the topic that this node may claim now; 0 or less for none. */
    int freeCapacity(Topic topic);

    /**
     * The number of messages that this node could claim if none were in flight. A claim for much less than that is
     * better delayed for a moment.
     */
    int capacity(Topic topic);

    /**
     * Claims messages and passes them on for delivery.
     *
     * @param most the value of {@link #freeCapacity}, or less
     * @param due whether a message is known to be due, and not only possible
     * @return whether there may be more
     */
    boolean claim(Topic topic, int most, boolean due);

    /**
     * The time until each of these topics has a due message; absent for topics without waiting messages. One statement.
     */
    Map<TopicName, Duration> nextDue(Collection<TopicName> topics);
}
