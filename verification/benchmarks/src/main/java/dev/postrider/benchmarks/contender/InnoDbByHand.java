package dev.postrider.benchmarks.contender;

import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/** By hand on MariaDB and MySQL, which do not return changed rows: lock, then change by number. */
record InnoDbByHand(int topicId) implements HandStatements {

    private static final String LOCK = """
            SELECT {columns}, available_at FROM hand_message
            WHERE state = 'PENDING' AND topic_id = ? AND available_at >= ? AND available_at <= UTC_TIMESTAMP(6)
              AND (available_at > ? OR seq > ?)
            ORDER BY available_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            """.replace("{columns}", COLUMNS);

    private static final String LEASE = """
            UPDATE hand_message
            SET state = 'PROCESSING', attempts = attempts + 1, lease_token = ?,
                locked_until = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND
            WHERE seq IN ({rows})
            """;

    private static final String NEXT = """
            SELECT {columns} FROM hand_message
            WHERE state = 'PENDING' AND topic_id = ? AND lane = ? AND seq > ? ORDER BY seq LIMIT ?
            """.replace("{columns}", COLUMNS);

    private static final String COPY = """
            INSERT INTO hand_archive (seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                      attributes, attempts, crashes, created_at, delivered_at)
            SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                   attempts + 1, crashes, created_at, UTC_TIMESTAMP(6)
            FROM hand_message WHERE seq IN ({rows})
            """;

    private static final String DELETE = "DELETE FROM hand_message WHERE seq IN ({rows})";

    @Override
    public Batch lock(Connection connection, Position after) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
            statement.setInt(1, topicId);
            statement.setObject(2, after.availableAt());
            statement.setObject(3, after.availableAt());
            statement.setLong(4, after.seq());
            statement.setInt(5, BATCH);
            return HandStatements.readBatch(statement);
        }
    }

    @Override
    public Batch lease(Connection connection, Position after) throws SQLException {
        Batch batch = lock(connection, after);
        List<Row> rows = batch.rows();
        if (!rows.isEmpty()) {
            try (PreparedStatement statement = connection.prepareStatement(withRows(LEASE, rows))) {
                UUID token = UUID.randomUUID();
                ByteBuffer bytes = ByteBuffer.allocate(16);
                bytes.putLong(token.getMostSignificantBits()).putLong(token.getLeastSignificantBits());
                statement.setBytes(1, bytes.array());
                bind(statement, 2, rows);
                statement.executeUpdate();
            }
        }
        return batch;
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
        change(connection, COPY, rows);
        change(connection, DELETE, rows);
    }

    @Override
    public void delete(Connection connection, List<Row> rows) throws SQLException {
        change(connection, DELETE, rows);
    }

    private static void change(Connection connection, String sql, List<Row> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(withRows(sql, rows))) {
            bind(statement, 1, rows);
            statement.executeUpdate();
        }
    }

    private static String withRows(String sql, List<Row> rows) {
        return sql.replace("{rows}", rows.stream().map(row -> "?").collect(Collectors.joining(", ")));
    }

    private static void bind(PreparedStatement statement, int first, List<Row> rows) throws SQLException {
        for (int i = 0; i < rows.size(); i++) {
            statement.setLong(first + i, rows.get(i).seq());
        }
    }
}
