package dev.postrider.benchmarks.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/** By hand on PostgreSQL: one statement to claim, one to delete. */
record PostgresByHand(int topicId) implements HandStatements {

    private static final String LOCK = """
            SELECT {columns}, available_at AT TIME ZONE 'UTC' FROM hand_message
            WHERE topic_id = ? AND state = 'PENDING' AND lane IS NULL
              AND (available_at, seq) > (? AT TIME ZONE 'UTC', ?) AND available_at <= statement_timestamp()
            ORDER BY available_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            """.replace("{columns}", COLUMNS);

    // By ctid and not by seq: the planner would read the whole table if it expects a batch to be all of it.
    private static final String LEASE = """
            UPDATE hand_message
            SET state = 'PROCESSING', attempts = attempts + 1, lease_token = ?,
                locked_until = clock_timestamp() + interval '30 seconds'
            WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM hand_message
                WHERE topic_id = ? AND state = 'PENDING' AND lane IS NULL
                  AND (available_at, seq) > (? AT TIME ZONE 'UTC', ?) AND available_at <= statement_timestamp()
                ORDER BY available_at, seq LIMIT ? FOR UPDATE SKIP LOCKED))
            RETURNING {columns}, available_at AT TIME ZONE 'UTC'
            """.replace("{columns}", COLUMNS);

    private static final String NEXT = """
            SELECT {columns} FROM hand_message
            WHERE topic_id = ? AND lane = ? AND state = 'PENDING' AND lane IS NOT NULL AND seq > ? ORDER BY seq LIMIT ?
            """.replace("{columns}", COLUMNS);

    private static final String ARCHIVE = """
            WITH delivered AS (DELETE FROM hand_message WHERE seq = ANY (?) RETURNING *)
            INSERT INTO hand_archive (seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                      attributes, attempts, crashes, created_at, delivered_at)
            SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                   attempts + 1, crashes, created_at, clock_timestamp()
            FROM delivered
            """;

    private static final String DELETE = "DELETE FROM hand_message WHERE seq = ANY (?)";

    @Override
    public Batch lock(Connection connection, Position after) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
            bind(statement, 1, after);
            return HandStatements.readBatch(statement);
        }
    }

    @Override
    public Batch lease(Connection connection, Position after) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LEASE)) {
            statement.setObject(1, UUID.randomUUID());
            bind(statement, 2, after);
            return HandStatements.readBatch(statement);
        }
    }

    private void bind(PreparedStatement statement, int first, Position after) throws SQLException {
        statement.setInt(first, topicId);
        statement.setObject(first + 1, after.availableAt());
        statement.setLong(first + 2, after.seq());
        statement.setInt(first + 3, BATCH);
    }

    @Override
    public List<Row> next(Connection connection, int lane, long after) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(NEXT)) {
            statement.setInt(1, topicId);
            statement.setInt(2, lane);
            statement.setLong(3, after);
            statement.setInt(4, BATCH);
            return HandStatements.read(statement);
        }
    }

    @Override
    public void archive(Connection connection, List<Row> rows) throws SQLException {
        change(connection, ARCHIVE, rows);
    }

    @Override
    public void delete(Connection connection, List<Row> rows) throws SQLException {
        change(connection, DELETE, rows);
    }

    private static void change(Connection connection, String sql, List<Row> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            Object[] seqs = rows.stream().map(Row::seq).toArray();
            statement.setArray(1, connection.createArrayOf("int8", seqs));
            statement.executeUpdate();
        }
    }
}
