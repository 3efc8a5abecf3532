package dev.postrider.checker;

/**
 * A message that is in the table at the end.
 *
 * @param deliverAt microseconds; zero if it is not scheduled
 * @param reason empty if it has none
 */
record Row(
        long seq,
        int message,
        String topic,
        String tenant,
        String key,
        State state,
        int attempts,
        String reason,
        long deliverAt) {}
