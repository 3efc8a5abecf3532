package dev.postrider.admin;

import dev.postrider.message.TopicName;
import java.time.Duration;

/**
 * How a topic stands. Immutable.
 *
 * @param nodes how many live nodes deliver it; a node counts from its start until a lease after its end at most
 * @param waiting due now and never tried
 * @param scheduled not due yet and never tried
 * @param retrying tried without success, and to be tried again
 * @param processing held under a lease
 * @param blocked behind the first message of a held key, on an ordered topic
 * @param parked holding a key until an operator decides, on an ordered topic
 * @param dead waiting for an operator
 * @param oldest how long the oldest message that is due or being processed has been in the outbox; zero if there is none
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

    /** Whether messages are to be delivered and no live node does it: nobody started one, or its configuration names another topic. */
    public boolean isStranded() {
        return nodes == 0 && backlog() > 0;
    }

    /** Everything that is still to be delivered. */
    public long backlog() {
        return waiting + scheduled + retrying + processing + blocked + parked;
    }
}
