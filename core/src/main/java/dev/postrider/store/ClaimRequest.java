package dev.postrider.store;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Set;

/**
 * What a worker asks for. Begin with {@link #of} and change what differs. Immutable.
 *
 * @param worker who asks; shown to operators
 * @param tenants only messages of these tenants; empty for all
 * @param limit at most so many messages
 * @param maxBytes stop after the message whose payload reaches this sum; at least one message is always given
 * @param lease for how long
 * @param maxAttempts how many attempts are made in all: a message that is due and has had them is buried instead of being claimed; one
 *     whose lease ran out on its last attempt is left to {@link MessageStore#sweep}
 * @param newOnly whether this look is for what was written just now: leases that ran out are then looked for only when that was not
 *     done for a while
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

    /** Up to 100 messages of the topic for 30 seconds, five attempts in all. */
    public static ClaimRequest of(String topic, String worker) {
        return new ClaimRequest(
                TopicName.of(topic), worker, Set.of(), 100, Long.MAX_VALUE, Duration.ofSeconds(30), 5, false);
    }

    public ClaimRequest limit(int limit) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    public ClaimRequest maxBytes(long maxBytes) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    public ClaimRequest lease(Duration lease) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    public ClaimRequest maxAttempts(int maxAttempts) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /** Only messages of these tenants. The rows of others are passed over one by one: meant for few, large tenants. */
    public ClaimRequest tenants(Set<String> tenants) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    /** Whether to look for what was written just now rather than for leases that ran out. */
    public ClaimRequest newOnly(boolean newOnly) {
        return new ClaimRequest(topic, worker, tenants, limit, maxBytes, lease, maxAttempts, newOnly);
    }

    static void checkLease(Duration lease) {
        if (lease.isNegative() || lease.isZero() || lease.compareTo(MAX_LEASE) > 0) {
            throw new InvalidConfigurationException("lease", "must be positive and at most 24 h, but is " + lease);
        }
    }
}
