package dev.postrider.admin;

import dev.postrider.message.TopicName;
import java.time.Duration;

/**
 * How a topic stands. Immutable.
 *
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
        long waiting,
        long scheduled,
        long retrying,
        long processing,
        long blocked,
        long parked,
        long dead,
        Duration oldest) {

    /** Everything that is still to be delivered. */
    public long backlog() {
        return waiting + scheduled + retrying + processing + blocked + parked;
    }
}
