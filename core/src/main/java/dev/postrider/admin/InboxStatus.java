package dev.postrider.admin;

import java.time.Instant;

/**
 * The marks of one consumer. Immutable.
 *
 * @param marks the number of counted marks
 * @param oldest when the oldest of these messages was first received
 */
public record InboxStatus(String consumer, long marks, Instant oldest) {}
