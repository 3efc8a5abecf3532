package dev.postrider.store;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Claims messages and records what came of them. Usable without the dispatcher, by a loop of one's own. Every change is one
 * conditional statement that carries the lease's token, and only the database's clock counts. Thread-safe.
 *
 * <p>All methods throw {@link dev.postrider.error.StoreUnavailableException} when the database cannot be reached; it is then
 * unknown whether they took effect. Calling {@link #settle} again with the same outcomes is safe, and a claim whose answer was
 * lost is given back by the next {@link #claim}.
 */
public interface MessageStore {

    /**
     * Leases messages of one topic that are due, and those whose earlier lease ran out, the longest due first. Nobody else gets
     * them before the lease ends. Empty while the topic is paused or has nothing due.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic is not registered
     */
    List<Claim> claim(ClaimRequest request);

    /**
     * Writes outcomes, in as few statements as there are kinds of them. The answers come in the order of the outcomes; a lost
     * lease spoils no other.
     *
     * @throws IllegalArgumentException for an outcome that only a message of a lane can have; nothing is written then
     */
    List<Settlement> settle(List<? extends Outcome> outcomes);

    /** Prolongs leases: each ends the given time from now. The token stays. */
    List<Settlement> extend(List<Claim> claims, Duration lease);

    /** Buries up to {@code limit} messages of the topic whose lease ran out on their last allowed attempt; says how many. */
    int sweep(TopicName topic, int maxAttempts, int limit);

    /**
     * How long until each topic has something to claim, by the database's clock: zero for now, absent for paused topics and for
     * topics with nothing waiting. One statement, whatever the number of topics.
     */
    Map<TopicName, Duration> nextDue(Collection<TopicName> topics);

    /** The message was delivered. */
    default Settlement acknowledge(Claim claim) {
        return settleOne(new Outcome.Delivered(claim));
    }

    /** The delivery failed; try again after the delay. {@code Postrider.nack} applies the retry policy and the limit of the topic. */
    default Settlement reschedule(Claim claim, Duration delay, String error) {
        return settleOne(new Outcome.Retry(claim, delay, error));
    }

    /** The delivery failed for good. */
    default Settlement bury(Claim claim, DeadReason reason, String error) {
        return settleOne(new Outcome.Buried(claim, reason, error));
    }

    /** The message was not tried: somebody else may have it at once, and the attempt does not count. */
    default Settlement release(Claim claim) {
        return settleOne(new Outcome.Released(claim));
    }

    private Settlement settleOne(Outcome outcome) {
        return settle(List.of(outcome)).get(0);
    }
}
