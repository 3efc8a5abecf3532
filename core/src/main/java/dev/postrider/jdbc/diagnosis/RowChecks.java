package dev.postrider.jdbc.diagnosis;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The checks of the rows themselves, of a bounded number each. The same on every database. Stateless, thread-safe. */
final class RowChecks {

    private static final int EXAMINED = 100_000;

    /** The rules of a message row, as docs/databases.md lists them. */
    private static final String UNSOUND = """
            SELECT m.seq, m.topic, m.state
            FROM (SELECT seq, topic, state, lease_token, locked_until, available_at FROM {message} ORDER BY seq LIMIT ?) m
            WHERE m.state NOT IN ('PENDING', 'PROCESSING', 'DEAD', 'SCHEDULED', 'RETRY', 'BLOCKED', 'PARKED')
               OR (m.state = 'PROCESSING' AND m.lease_token IS NULL) OR (m.state <> 'PROCESSING' AND m.lease_token IS NOT NULL)
               OR (m.lease_token IS NULL AND m.locked_until IS NOT NULL)
               OR (m.lease_token IS NOT NULL AND m.locked_until IS NULL)
               OR m.available_at < ?
            ORDER BY m.seq LIMIT 3
            """;

    /** An idempotency key was used with a payload that another key has too. */
    private static final String KEYS_OF_ONE_PAYLOAD = """
            SELECT t.topic, d.times
            FROM (SELECT k.topic_id, COUNT(*) AS times
                  FROM (SELECT topic_id, payload_hash FROM {dedup} ORDER BY seen_at DESC LIMIT ?) k
                  GROUP BY k.topic_id, k.payload_hash HAVING COUNT(*) > 1) d
            JOIN {topic} t ON t.id = d.topic_id
            ORDER BY d.times DESC, t.topic LIMIT 3
            """;

    /** A consumer has received a payload under several ids. */
    private static final String IDS_OF_ONE_PAYLOAD = """
            SELECT k.consumer, COUNT(*) AS times
            FROM (SELECT consumer, tenant, payload_hash FROM {inbox_mark} ORDER BY seen_at DESC LIMIT ?) k
            GROUP BY k.consumer, k.tenant, k.payload_hash HAVING COUNT(*) > 1
            ORDER BY times DESC, k.consumer LIMIT 3
            """;

    List<DiagnosisFinding> unsound(BoundedQueries queries) throws SQLException {
        return queries.query(UNSOUND, binder -> binder.integer(EXAMINED).time(Instant.EPOCH), row -> {
            List<DiagnosisFinding> findings = new ArrayList<>();
            while (row.next()) {
                findings.add(DiagnosisFinding.error(
                        "rows",
                        "Row " + row.getLong("seq") + " of topic " + row.getString("topic")
                                + " breaks the rules of a message (state " + row.getString("state")
                                + "): another program has written it, and it is not delivered",
                        queries.sql().sqlOnce("SELECT * FROM {message} WHERE seq = " + row.getLong("seq"))
                                + "; -- docs/databases.md has the rules"));
            }
            return findings;
        });
    }

    List<DiagnosisFinding> equalPayloads(BoundedQueries queries) throws SQLException {
        return queries.query(KEYS_OF_ONE_PAYLOAD, binder -> binder.integer(EXAMINED), row -> {
            List<DiagnosisFinding> findings = new ArrayList<>();
            while (row.next()) {
                findings.add(
                        DiagnosisFinding.warn(
                                "payloads",
                                "Topic " + name(row, "topic") + " has one payload under " + row.getLong("times")
                                        + " idempotency keys: if they are one event, each attempt of the application makes a new key,"
                                        + " and receivers see duplicates",
                                "make the key from the event, for example DeterministicKey.of(...) with the number of the order"));
            }
            return findings;
        });
    }

    List<DiagnosisFinding> changingIds(BoundedQueries queries) throws SQLException {
        return queries.query(IDS_OF_ONE_PAYLOAD, binder -> binder.integer(EXAMINED), row -> {
            List<DiagnosisFinding> findings = new ArrayList<>();
            while (row.next()) {
                findings.add(DiagnosisFinding.warn(
                        "ids",
                        "Consumer " + name(row, "consumer") + " has received one payload under " + row.getLong("times")
                                + " ids: if they are one message, its producer gives each attempt a new id, and the inbox"
                                + " cannot see the duplicate",
                        "let the producer choose the id once and store it, as an outbox does; or take a key of the event as the"
                                + " id: Message.received(topic, key)"));
            }
            return findings;
        });
    }

    private static String name(ResultSet row, String column) throws SQLException {
        return "'" + row.getString(column) + "'";
    }
}
