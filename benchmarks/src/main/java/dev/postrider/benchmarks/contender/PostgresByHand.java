package dev.postrider.benchmarks.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/** By hand on PostgreSQL: one statement to take, one to delete. */
record PostgresByHand(int topicId) implements HandStatements {

    private static final String LOCK = """
            SELECT seq, payload FROM hand_message
            WHERE topic_id = ? AND state = 'PENDING' AND available_at <= statement_timestamp()
            ORDER BY available_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    // By place and not by number: where a batch is thought to be the whole table the planner would read all of it.
    private static final String LEASE = """
            UPDATE hand_message
            SET state = 'PROCESSING', attempts = attempts + 1, lease_token = ?,
                locked_until = clock_timestamp() + interval '30 seconds'
            WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM hand_message
                WHERE topic_id = ? AND state = 'PENDING' AND available_at <= statement_timestamp()
                ORDER BY available_at, seq LIMIT ? FOR UPDATE SKIP LOCKED))
            RETURNING seq, payload
            """;

    private static final String DELETE = "DELETE FROM hand_message WHERE seq = ANY (?)";

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
        try (PreparedStatement statement = connection.prepareStatement(LEASE)) {
            statement.setObject(1, UUID.randomUUID());
            statement.setInt(2, topicId);
            statement.setInt(3, BATCH);
            return HandStatements.read(statement);
        }
    }

    @Override
    public void delete(Connection connection, List<Row> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DELETE)) {
            Object[] seqs = rows.stream().map(Row::seq).toArray();
            statement.setArray(1, connection.createArrayOf("int8", seqs));
            statement.executeUpdate();
        }
    }
}
