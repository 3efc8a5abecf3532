package dev.postrider.store;

import java.time.Duration;
import java.util.UUID;

/**
 * The right to deliver the messages of one claim for a limited time. The token is made for this claim alone. Another
 * node, or the same node after losing the lease, cannot use it. Immutable.
 *
 * @param token the lease token, which every later statement on these messages carries
 * @param holder the name of the owning node, for operators
 * @param length the length of the lease, counted by the clock of the database
 */
public record Lease(UUID token, String holder, Duration length) {}
