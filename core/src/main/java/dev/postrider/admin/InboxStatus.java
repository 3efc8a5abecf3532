package dev.postrider.admin;

import java.time.Instant;

/**
 * What a consumer remembers. Immutable.
 *
 * @param marks how many received messages
 * @param oldest when the first of these was seen
 */
public record InboxStatus(String consumer, long marks, Instant oldest) {}
