package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Reads of lanes on PostgreSQL. */
final class PostgresLaneReads implements LaneReads {

    /**
     * Reads the next messages of all lanes in one statement, and so in one snapshot: two reads could return the second message of a key
     * before the first. Each lane starts at the number below which all messages are known. The last number is read without a transaction
     * id, and is paired later with an id that is assigned after it. A sequence that was never used already shows its first number, hence
     * the {@code CASE}. A hashed list excludes messages that were read before. The sight is a row of its own, with a null for each column
     * of a message: as columns of each message it would be sent a thousand times. The rows of one lane are ordered by number. The caller
     * sorts the rows of all lanes, which is cheaper than a sort in this statement.
     *
     * <p>A payload that is larger than its equal share of the byte budget is returned as null. Then the caller discards the whole result
     * and runs {@link #READ_WITHIN}, which adds up the sizes row by row and takes half as long again.
     */
    static final String READ = """
            WITH sight AS MATERIALIZED (
                SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last_number,
                       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS finished_before,
                       EXISTS (SELECT FROM {topic} WHERE id = ? AND paused) AS paused,
                       coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time()) AS server
                FROM {message_seq}
            )
            SELECT NULL::bigint AS last_number, NULL::bigint AS finished_before, NULL::boolean AS paused, NULL::text AS server, m.*
            FROM unnest(?::smallint[], ?::bigint[], ?::int[]) AS look (lane, start, room)
            CROSS JOIN LATERAL (
                SELECT seq, id, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN {payload size} <= ? THEN payload END AS payload, attributes, lane, attempts, crashes, created_at
                FROM {message}
                WHERE topic_id = ? AND lane = look.lane AND state = 'PENDING' AND lane IS NOT NULL AND seq > look.start
                  AND seq NOT IN (SELECT unnest(?::bigint[]))
                ORDER BY seq
                LIMIT look.room
            ) AS m
            WHERE NOT (SELECT paused FROM sight)
            UNION ALL
            SELECT sight.*, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM sight
            """;

    /** As {@link #READ}, within a byte budget: in the order of numbers, the message that reaches the budget is the last one. */
    static final String READ_WITHIN = """
            WITH sight AS MATERIALIZED (
                SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last_number,
                       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS finished_before,
                       EXISTS (SELECT FROM {topic} WHERE id = ? AND paused) AS paused,
                       coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time()) AS server
                FROM {message_seq}
            )
            SELECT NULL::bigint AS last_number, NULL::bigint AS finished_before, NULL::boolean AS paused, NULL::text AS server, found.*
            FROM (
                SELECT m.*, sum(m.bytes) OVER (ORDER BY m.seq ROWS UNBOUNDED PRECEDING) - m.bytes AS before
                FROM unnest(?::smallint[], ?::bigint[], ?::int[]) AS look (lane, start, room)
                CROSS JOIN LATERAL (
                    SELECT seq, id, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes, lane, attempts,
                           crashes, created_at, {payload size} AS bytes
                    FROM {message}
                    WHERE topic_id = ? AND lane = look.lane AND state = 'PENDING' AND lane IS NOT NULL AND seq > look.start
                      AND seq NOT IN (SELECT unnest(?::bigint[]))
                    ORDER BY seq
                    LIMIT look.room
                ) AS m
            ) AS found
            WHERE NOT (SELECT paused FROM sight) AND found.before < ?
            UNION ALL
            SELECT sight.*, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM sight
            """;

    /**
     * Reads the due scheduled messages and the due heads of blocked keys, each head with a limited number of messages behind it. The
     * caller stops at the first parked message of a key. Only the lowest retrying, blocked or parked row of a key is its head, even if
     * other rows of the key are due.
     */
    static final String READ_TIMED = """
            SELECT * FROM (
            SELECT found.*, sum(found.bytes) OVER (ORDER BY found.seq) - found.bytes AS before
            FROM unnest(?::smallint[]) AS look (lane)
            CROSS JOIN LATERAL (
                SELECT seq, state, tenant, ordering_key FROM {message} AS t
                WHERE topic_id = ? AND lane = look.lane AND state IN ('SCHEDULED', 'RETRY')
                  AND available_at <= statement_timestamp() AND seq NOT IN (SELECT unnest(?::bigint[]))
                  AND (state = 'SCHEDULED' OR NOT EXISTS (
                      SELECT FROM {message} AS w
                      WHERE w.topic_id = t.topic_id AND w.lane = t.lane AND w.ordering_key = t.ordering_key
                        AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.tenant IS NOT DISTINCT FROM t.tenant AND w.seq < t.seq))
                ORDER BY available_at
                LIMIT ?
            ) AS due
            CROSS JOIN LATERAL (
                SELECT *, {payload size} AS bytes FROM {message} WHERE seq = due.seq
                UNION ALL
                (SELECT *, {payload size} AS bytes FROM {message} AS w
                 WHERE due.state = 'RETRY' AND w.topic_id = ? AND w.lane = look.lane AND w.ordering_key = due.ordering_key
                   AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.tenant IS NOT DISTINCT FROM due.tenant AND w.seq > due.seq
                 ORDER BY w.seq
                 LIMIT ?)
            ) AS found
            WHERE NOT EXISTS (SELECT FROM {topic} WHERE id = ? AND paused)
            ) AS running
            WHERE before < ?
            ORDER BY seq
            """;

    /** The rows of a timed read that no other transaction has locked, if they are still blocked or due. */
    static final String LOCK_DUE = """
            SELECT seq FROM {message}
            WHERE seq = ANY (?::bigint[])
              AND (state = 'BLOCKED' OR state IN ('RETRY', 'SCHEDULED') AND available_at <= clock_timestamp())
            FOR SHARE SKIP LOCKED
            """;

    static final String NEXT_DUE = """
            SELECT look.topic_id, t.paused, min(CASE
                     WHEN t.paused THEN NULL
                     WHEN EXISTS (SELECT FROM {message}
                                  WHERE topic_id = look.topic_id AND lane = look.lane AND state = 'PENDING' AND lane IS NOT NULL
                                    AND seq > look.start) THEN 0
                     ELSE (SELECT (extract(epoch FROM available_at - clock_timestamp()) * 1000000)::bigint FROM {message}
                           WHERE topic_id = look.topic_id AND lane = look.lane AND state IN ('SCHEDULED', 'RETRY')
                           ORDER BY available_at LIMIT 1)
                   END) AS micros
            FROM unnest(?::int[], ?::smallint[], ?::bigint[]) AS look (topic_id, lane, start)
            JOIN {topic} AS t ON t.id = look.topic_id
            GROUP BY look.topic_id, t.paused
            """;

    /** The states of rows that an outcome did not change: tells a locked row from a removed one. */
    static final String STATES = "SELECT seq, id, state FROM {message} WHERE seq = ANY (?::bigint[])";

    private final SqlRunner sql;

    PostgresLaneReads(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public LaneRead read(
            Connection connection, int topicId, TopicName topic, List<LaneCursor.LaneScan> scans, long maxBytes)
            throws SQLException {
        List<Long> leaveOut = LaneReads.leaveOut(scans);
        Object[] lanes = PostgresLanes.column(scans, LaneCursor.LaneScan::lane);
        Object[] starts = PostgresLanes.column(scans, LaneCursor.LaneScan::start);
        Object[] rooms = PostgresLanes.column(scans, LaneCursor.LaneScan::room);
        long rows = scans.stream().mapToLong(LaneCursor.LaneScan::room).sum();
        Optional<LaneRead> small = sql.query(
                connection,
                READ,
                binder -> binder.integer(topicId)
                        .array("int2", lanes)
                        .array("int8", starts)
                        .array("int4", rooms)
                        .number(maxBytes / Math.max(rows, 1))
                        .integer(topicId)
                        .array("int8", leaveOut.toArray()),
                found -> laneRead(found, topic));
        if (small.isPresent()) {
            return small.get();
        }
        return sql.query(
                        connection,
                        READ_WITHIN,
                        binder -> binder.integer(topicId)
                                .array("int2", lanes)
                                .array("int8", starts)
                                .array("int4", rooms)
                                .integer(topicId)
                                .array("int8", leaveOut.toArray())
                                .number(maxBytes),
                        found -> laneRead(found, topic))
                .orElseThrow();
    }

    /** Reads the result of a read. Empty if a payload was too large to be returned. */
    private Optional<LaneRead> laneRead(ResultSet rows, TopicName topic) throws SQLException {
        Horizon.Sight sight = null;
        boolean paused = false;
        List<LaneRow> found = new ArrayList<>();
        ClaimedRow.Reader reader = new ClaimedRow.Reader(rows, sql, topic);
        int lane = rows.findColumn("lane");
        int payload = rows.findColumn("payload");
        while (rows.next()) {
            int number = rows.getInt(lane);
            if (rows.wasNull()) {
                sight = sight(rows);
                paused = rows.getBoolean("paused");
            } else if (rows.getBytes(payload) == null) {
                return Optional.empty();
            } else {
                found.add(new LaneRow(number, RowState.PENDING, reader.read(Instant.EPOCH)));
            }
        }
        found.sort(BY_NUMBER);
        return Optional.of(new LaneRead(Objects.requireNonNull(sight), paused, found));
    }

    private static Horizon.Sight sight(ResultSet row) throws SQLException {
        return new Horizon.Sight(
                row.getString("server"), row.getLong("last_number"), row.getLong("finished_before"), null);
    }

    @Override
    public List<LaneRow> readTimed(Connection connection, int topicId, TopicName topic, TimedScan scan)
            throws SQLException {
        return sql.query(
                connection,
                READ_TIMED,
                binder -> binder.array("int2", scan.lanes().toArray())
                        .integer(topicId)
                        .array("int8", scan.leaveOut().toArray())
                        .integer(scan.limit())
                        .integer(topicId)
                        .integer(BEHIND_HEAD)
                        .integer(topicId)
                        .number(scan.maxBytes()),
                rows -> LaneReads.laneRows(rows, sql, topic));
    }

    @Override
    public Set<Long> lockDue(Connection connection, List<Long> seqs) throws SQLException {
        return sql.query(connection, LOCK_DUE, binder -> binder.array("int8", seqs.toArray()), SqlRunner::numbers);
    }

    @Override
    public DueTopics nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException {
        return sql.query(
                connection,
                NEXT_DUE,
                binder -> binder.array("int4", PostgresLanes.column(starts.keySet(), lane -> lane.topicId))
                        .array("int2", PostgresLanes.column(starts.keySet(), lane -> lane.lane))
                        .array("int8", starts.values().toArray()),
                rows -> {
                    Map<Integer, Long> due = new HashMap<>();
                    Set<Integer> paused = new HashSet<>();
                    while (rows.next()) {
                        int topicId = rows.getInt("topic_id");
                        if (rows.getBoolean("paused")) {
                            paused.add(topicId);
                        }
                        long micros = rows.getLong("micros");
                        if (!rows.wasNull()) {
                            due.put(topicId, micros);
                        }
                    }
                    return new DueTopics(due, paused);
                });
    }

    @Override
    public Map<Long, RowState> states(Connection connection, Map<Long, UUID> rows) throws SQLException {
        return sql.query(
                connection,
                STATES,
                binder -> binder.array("int8", rows.keySet().toArray()),
                found -> LaneReads.states(found, rows, sql));
    }
}
