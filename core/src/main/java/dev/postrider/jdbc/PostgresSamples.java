package dev.postrider.jdbc;

import static dev.postrider.jdbc.SampleStatements.part;

/** The statements of PostgreSQL. The order of each part is that of its partial index, so that the index is used and the limit ends it. */
final class PostgresSamples implements SampleStatements {

    private static final String LEASED_AND_DEAD = part("LEASED", "", "state = 'PROCESSING' ORDER BY locked_until")
            + "UNION ALL\n" + part("DEAD", "", "state = 'DEAD' ORDER BY seq");

    private static final String UNORDERED = part(
                    "DUE", "", "state = 'PENDING' AND lane IS NULL AND available_at <= ? ORDER BY available_at, seq")
            + "UNION ALL\n"
            + part("LATER", "", "state = 'PENDING' AND lane IS NULL AND available_at > ? ORDER BY available_at, seq")
            + "UNION ALL\n" + LEASED_AND_DEAD;

    private static final String ORDERED = part("LANES", "", "state = 'PENDING' AND lane IS NOT NULL ORDER BY lane, seq")
            + "UNION ALL\n"
            + part("TIMED", "", "state IN ('SCHEDULED', 'RETRY') ORDER BY lane, available_at")
            + "UNION ALL\n"
            + part("HEADS", "", "state IN ('RETRY', 'PARKED') ORDER BY lane, seq")
            + "UNION ALL\n"
            + part("BEHIND", "", "state IN ('RETRY', 'BLOCKED', 'PARKED') ORDER BY lane, ordering_key, seq")
            + "UNION ALL\n" + LEASED_AND_DEAD;

    private static final String BLOCKED_KEYS = """
            SELECT COUNT(*) FROM (
                SELECT DISTINCT lane, ordering_key, tenant FROM (
                    SELECT lane, ordering_key, tenant FROM {message}
                    WHERE topic_id = ? AND state IN ('RETRY', 'PARKED') ORDER BY lane, seq LIMIT ?) h) k
            """;

    private static final String OLDEST_IN_LANES = """
            SELECT MIN(head.available_at) FROM {lane} l CROSS JOIN LATERAL (
                SELECT m.available_at FROM {message} m
                WHERE m.topic_id = l.topic_id AND m.lane = l.lane AND m.state = 'PENDING' AND m.seq > l.floor
                ORDER BY m.seq LIMIT 1) head
            WHERE l.topic_id = ?
            """;

    @Override
    public String unordered() {
        return UNORDERED;
    }

    @Override
    public String ordered() {
        return ORDERED;
    }

    @Override
    public String blockedKeys() {
        return BLOCKED_KEYS;
    }

    @Override
    public String oldestInLanes() {
        return OLDEST_IN_LANES;
    }
}
