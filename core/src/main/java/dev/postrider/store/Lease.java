package dev.postrider.store;

import java.time.Duration;
import java.util.UUID;

/**
 * The right to deliver the messages of one claim for a while. The token was made for this claim alone, so neither another
 * worker nor the same one after losing the lease can be taken for its holder. Immutable.
 *
 * @param token what every later statement about these messages must carry
 * @param holder the worker, for people to read
 * @param length how long the database granted it, counted from its own clock
 */
public record Lease(UUID token, String holder, Duration length) {}
