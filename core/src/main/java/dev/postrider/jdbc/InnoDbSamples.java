package dev.postrider.jdbc;

import static dev.postrider.jdbc.SampleStatements.part;

/** The statements of MySQL and MariaDB, also used on H2. State and topic lead the indexes, so each part is one range of one of them. */
final class InnoDbSamples implements SampleStatements {

    private static final String DUE = " FORCE INDEX ({index message_due})";
    private static final String LANE = " FORCE INDEX ({index message_lane})";

    private static final String LEASED_AND_DEAD =
            part("LEASED", DUE, "state = 'PROCESSING'") + "UNION ALL\n" + part("DEAD", DUE, "state = 'DEAD'");

    private static final String UNORDERED =
            part("DUE", DUE, "state = 'PENDING' AND available_at <= ? ORDER BY available_at")
                    + "UNION ALL\n"
                    + part("LATER", DUE, "state = 'PENDING' AND available_at > ? ORDER BY available_at")
                    + "UNION ALL\n" + LEASED_AND_DEAD;

    private static final String ORDERED = part("LANES", LANE, "state = 'PENDING'")
            + "UNION ALL\n"
            + part("TIMED", LANE, "state = 'SCHEDULED'")
            + "UNION ALL\n"
            + part("HEADS", LANE, "state IN ('RETRY', 'PARKED')")
            + "UNION ALL\n"
            + part("BEHIND", LANE, "state = 'BLOCKED'")
            + "UNION ALL\n" + LEASED_AND_DEAD;

    private static final String BLOCKED_KEYS = """
            SELECT COUNT(*) FROM (
                SELECT DISTINCT lane, ordering_key, tenant FROM (
                    SELECT lane, ordering_key, tenant FROM {message} FORCE INDEX ({index message_lane})
                    WHERE topic_id = ? AND state IN ('RETRY', 'PARKED') LIMIT ?) h) k
            """;

    /** The order names all columns of the index. By seq alone, MySQL reads and sorts all messages of each lane. */
    private static final String OLDEST_IN_LANES = """
            SELECT MIN(head.available_at) FROM (
                SELECT (SELECT m.available_at FROM {message} m FORCE INDEX ({index message_lane})
                        WHERE m.topic_id = l.topic_id AND m.lane = l.lane AND m.state = 'PENDING' AND m.seq > l.floor
                        ORDER BY m.state, m.topic_id, m.lane, m.seq LIMIT 1) AS available_at
                FROM {lane} l WHERE l.topic_id = ?) head
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
