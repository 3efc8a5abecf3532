package dev.postrider.benchmarks.contender;

import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/** By hand on MariaDB and MySQL, which do not return what they change: lock, then change by number. */
record InnoDbByHand(int topicId) implements HandStatements {

    private static final String LOCK = """
            SELECT seq, payload FROM hand_message
            WHERE state = 'PENDING' AND topic_id = ? AND available_at <= UTC_TIMESTAMP(6)
            ORDER BY available_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    private static final String LEASE = """
            UPDATE hand_message
            SET state = 'PROCESSING', attempts = attempts + 1, lease_token = ?,
                locked_until = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND
            WHERE seq IN ({rows})
            """;

    private static final String DELETE = "DELETE FROM hand_message WHERE seq IN ({rows})";

    @Override
    public List<Row> lock(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
            statement.setInt(1, topicId);
            statement.setInt(2, BATCH);
            return HandStatements.read(statement);
        }
    }

    @Override
    public List<Row> lease(Connection connection) throws SQLException {
        List<Row> rows = lock(connection);
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
        return rows;
    }

    @Override
    public void delete(Connection connection, List<Row> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(withRows(DELETE, rows))) {
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
