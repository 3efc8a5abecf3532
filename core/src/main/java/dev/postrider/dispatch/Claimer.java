package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;

/** A way to get hold of messages: row by row, or by the lanes they travel in. What it gets it hands over for delivery. */
interface Claimer {

    /** How many more messages of the topic this node may get hold of; 0 or less for none. */
    int room(Topic topic);

    /** How many it could get hold of if it had none: a claim for much less than that is better put off for a moment. */
    int capacity(Topic topic);

    /**
     * Gets hold of messages and hands them over.
     *
     * @param room as much as {@link #room} said, or less
     * @param due whether something is known to have come due, rather than only possible
     * @return whether there may be more
     */
    boolean claim(Topic topic, int room, boolean due);

    /** How long until each of these topics has something; absent for those with nothing waiting. One statement. */
    Map<TopicName, Duration> nextDue(Collection<TopicName> topics);
}
