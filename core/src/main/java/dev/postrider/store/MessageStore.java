package dev.postrider.store;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Claims messages of unordered topics and writes their outcomes. It can be used without the dispatcher, in a loop of
 * the application. Every change is one conditional statement that carries the lease token. Only the clock of the
 * database is used. Thread-safe.
 *
 * <p>All methods throw {@link dev.postrider.error.StoreUnavailableException} when the database cannot be reached. It
 * is then unknown whether they took effect. {@link #settle} may be called again with the same outcomes. Messages of a
 * claim whose answer was lost are released by the next {@link #claim}.
 */
public interface MessageStore {

    /**
     * Claims messages of one topic that are due or whose lease has expired, the longest due first. No other node can
     * claim them before the lease ends. The list is empty while the topic is paused or has no due messages.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic is not registered
     * @throws dev.postrider.encryption.CipherUnavailableException when the cipher of all due messages is not available.
     *     They wait for a few seconds
     */
    List<Claim> claim(ClaimRequest request);

    /**
     * Writes outcomes, with one statement for each kind of outcome where possible. The results have the order of the
     * outcomes. A lost lease does not affect the other outcomes.
     *
     * @throws dev.postrider.error.InvalidConfigurationException for two outcomes of one claim; nothing is written
     *     then
     */
    List<Settlement> settle(List<? extends Outcome> outcomes);

    /**
     * Extends leases. Each lease ends the given time from now. The token does not change.
     *
     * @throws dev.postrider.error.InvalidConfigurationException for a lease that is not positive, or longer than 24
     *     hours
     */
    List<Settlement> extend(List<Claim> claims, Duration lease);

    /**
     * Buries up to {@code limit} messages of the topic whose lease expired on their last allowed attempt.
     *
     * @return the number of buried messages
     * @throws dev.postrider.error.InvalidConfigurationException for a limit or a number of attempts below 1
     */
    int sweep(TopicName topic, int maxAttempts, int limit);

    /**
     * Returns how long until each topic has a message to claim, by the clock of the database. Zero means now. Paused
     * topics and topics without waiting messages are absent. It uses one statement for any number of topics.
     */
    Map<TopicName, Duration> nextDue(Collection<TopicName> topics);

    /** Acknowledges a delivered message. */
    default Settlement acknowledge(Claim claim) {
        return settleOne(new Outcome.Delivered(claim));
    }

    /**
     * Records a failed delivery. The message is retried after the delay. {@code Postrider.nack} applies the retry
     * policy and the attempt limit of the topic.
     */
    default Settlement reschedule(Claim claim, Duration delay, String error) {
        return settleOne(new Outcome.Retry(claim, delay, error));
    }

    /** Makes the message a dead letter. */
    default Settlement bury(Claim claim, DeadReason reason, String error) {
        return settleOne(new Outcome.Buried(claim, reason, error));
    }

    /**
     * Makes a message a dead letter because it has expired. The claim counts no attempt. A loop of the application
     * compares {@code expiresAt} itself before it delivers: only the dispatcher does so by itself.
     */
    default Settlement expire(Claim claim) {
        return settleOne(new Outcome.Expired(claim, false));
    }

    /**
     * Releases a message that was not attempted. Other nodes can claim it immediately, and the attempt does not
     * count.
     */
    default Settlement release(Claim claim) {
        return settleOne(new Outcome.Released(claim));
    }

    private Settlement settleOne(Outcome outcome) {
        return settle(List.of(outcome)).get(0);
    }
}
