package dev.postrider.store;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a claim. Start with {@link #of} and change the parameters that differ. Immutable. An invalid
 * parameter throws {@link InvalidConfigurationException}.
 *
 * @param worker the name of the claiming node, shown to operators; 1 to 100 characters
 * @param tenants the tenants whose messages are claimed; empty for all
 * @param limit the largest number of messages, 1 to {@value #MAX_LIMIT}
 * @param maxBytes the claim ends after the message whose payload reaches this sum; at least one message is always
 *     claimed
 * @param lease the length of the lease, at most 24 hours
 * @param maxAttempts the number of attempts in all. A due message that has had them is buried instead of claimed. A
 *     message whose lease expired on its last attempt is left to {@link MessageStore#sweep}
 * @param newOnly whether the claim only searches for new messages. It then searches for expired leases only if no
 *     claim has done so for half a second
 */
public record ClaimRequest(
        TopicName topic,
        String worker,
        Set<String> tenants,
        int limit,
        long maxBytes,
        Duration lease,
        int maxAttempts,
        boolean newOnly) {

    /** The largest limit of one claim. */
    public static final int MAX_LIMIT = 10_000;

    private static final Duration MAX_LEASE = Duration.ofHours(24);

    public ClaimRequest {
        if (worker.isBlank() || worker.length() > 100) {
            throw new InvalidConfigurationException("worker", "must be a name of 1 to 100 characters");
        }
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new InvalidConfigurationException("limit", "must be 1 to " + MAX_LIMIT + ", but is " + limit);
        }
        if (maxBytes < 1) {
            throw new InvalidConfigurationException("max-bytes", "must be positive, but is " + maxBytes);
        }
        checkLease(lease);
        if (maxAttempts < 1) {
            throw new InvalidConfigurationException("max-attempts", "must be at least 1, but is " + maxAttempts);
        }
        tenants = Set.copyOf(tenants);
    }

    /** Returns a request for up to 100 messages of the topic, with a lease of 30 seconds and five attempts in all. */
    public static ClaimRequest of(String topic, String worker) {
        return new ClaimRequest(
                TopicName.of(topic), worker, Set.of(), 100, Long.MAX_VALUE, Duration.ofSeconds(30), 5, false);
    }

    /** Returns a copy with this limit. */
    public ClaimRequest limit(int limit) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /** Returns a copy with this sum of payload sizes. */
    public ClaimRequest maxBytes(long maxBytes) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /** Returns a copy with this lease. */
    public ClaimRequest lease(Duration lease) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /** Returns a copy with this number of attempts in all. */
    public ClaimRequest maxAttempts(int maxAttempts) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /**
     * Returns a copy that claims only messages of these tenants. The statement skips the rows of other tenants one by
     * one, so this is meant for few, large tenants.
     */
    public ClaimRequest tenants(Set<String> tenants) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /** Returns a copy that searches only for new messages, or also for expired leases. */
    public ClaimRequest newOnly(boolean newOnly) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /**
     * Checks the length of a lease.
     *
     * @throws InvalidConfigurationException when the lease is null, not positive, or longer than 24 hours
     */
    public static void checkLease(@Nullable Duration lease) {
        if (lease == null || lease.isNegative() || lease.isZero() || lease.compareTo(MAX_LEASE) > 0) {
            throw new InvalidConfigurationException("lease", "must be positive and at most 24 h, but is " + lease);
        }
    }
}
