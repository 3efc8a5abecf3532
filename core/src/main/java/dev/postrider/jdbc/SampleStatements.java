package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.SqlRunner;

/**
 * The statements of one database that count the messages of a topic. Each part of a statement reads one range of one
 * index and ends at its limit, so none of them steps over rows of another state. A row of the result has the part, a
 * state, and the counts of that state.
 */
interface SampleStatements {

    /**
     * The parts of an unordered topic: DUE and LATER (pending), LEASED (processing), DEAD. The parameters of each part
     * are those of {@link #PART}; DUE and LATER have the time once more before the limit.
     */
    String unordered();

    /**
     * The parts of an ordered topic: LANES (pending), TIMED (scheduled or retrying), HEADS (retrying or parked), BEHIND
     * (retrying, blocked or parked), LEASED, DEAD.
     */
    String ordered();

    /** Counts the keys of the first heads of a topic. Parameters: the topic, the limit. */
    String blockedKeys();

    /** Finds when the first pending messages of the lanes were due. Parameter: the topic. */
    String oldestInLanes();

    /** A message that was attempted is as old as the message; any other counts from the time it was due. */
    String PART = """
            SELECT '%s' AS part, state, COUNT(*) AS found,
                   SUM(CASE WHEN attempts > 0 THEN 1 ELSE 0 END) AS retried,
                   SUM(CASE WHEN attempts >= ? THEN 1 ELSE 0 END) AS attempted,
                   SUM(CASE WHEN locked_until < ? THEN 1 ELSE 0 END) AS expired,
                   MIN(CASE WHEN attempts > 0 THEN created_at WHEN available_at <= ? THEN available_at END) AS oldest
            FROM (SELECT state, attempts, created_at, available_at, locked_until FROM {message}%s
                  WHERE topic_id = ? AND %s LIMIT ?) p
            GROUP BY state
            """;

    static SampleStatements of(SqlRunner sql) {
        return switch (sql.kind()) {
            case POSTGRESQL -> new PostgresSamples();
            case MYSQL, MARIADB, H2 -> new InnoDbSamples();
        };
    }

    /** @param range the condition and the order after the topic */
    static String part(String name, String hint, String range) {
        return PART.formatted(name, hint, range);
    }
}
