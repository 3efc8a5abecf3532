package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The statements of the hand-written loops. */
interface HandStatements {

    int BATCH = 500;

    /** The columns that a receiver needs of a message, besides its payload also its identity and its metadata. */
    String COLUMNS =
            "seq, payload, id, type, tenant, ordering_key, idempotency_key, content_type, attributes, attempts";

    /** A message as a loop reads it. */
    record Row(long seq, int order, Carried carried) {}

    /** The metadata that is delivered with the payload. */
    record Carried(
            Object id,
            String type,
            @Nullable String tenant,
            @Nullable String key,
            @Nullable String idempotencyKey,
            String contentType,
            String headers,
            int attempts) {}

    /** A place in the order in which due messages are claimed. */
    record Position(LocalDateTime availableAt, long seq) implements Comparable<Position> {

        static final Position START = new Position(LocalDateTime.of(2000, 1, 1, 0, 0), 0);

        @Override
        public int compareTo(Position other) {
            int byTime = availableAt.compareTo(other.availableAt);
            return byTime != 0 ? byTime : Long.compare(seq, other.seq);
        }
    }

    /** A claimed batch, and the position of its last message; the start if there is none. */
    record Batch(List<Row> rows, Position last) {}

    /** Locks a batch of due messages after this position, and skips locked rows. */
    Batch lock(Connection connection, Position after) throws SQLException;

    /** Leases a batch of due messages after this position. The lease outlasts the transaction. */
    Batch lease(Connection connection, Position after) throws SQLException;

    /** The next messages of a lane after this number. No other loop reads the lane. */
    List<Row> next(Connection connection, int lane, long after) throws SQLException;

    void archive(Connection connection, List<Row> rows) throws SQLException;

    void delete(Connection connection, List<Row> rows) throws SQLException;

    static HandStatements of(Sql sql, int topicId) {
        return switch (sql) {
            case POSTGRESQL -> new PostgresByHand(topicId);
            case INNODB -> new InnoDbByHand(topicId);
        };
    }

    static List<Row> read(PreparedStatement statement) throws SQLException {
        List<Row> rows = new ArrayList<>(BATCH);
        try (ResultSet answer = statement.executeQuery()) {
            while (answer.next()) {
                rows.add(row(answer));
            }
        }
        return rows;
    }

    /** Reads a batch whose rows end with their due time. A database may return changed rows in any order. */
    static Batch readBatch(PreparedStatement statement) throws SQLException {
        List<Row> rows = new ArrayList<>(BATCH);
        Position last = Position.START;
        try (ResultSet answer = statement.executeQuery()) {
            while (answer.next()) {
                Row row = row(answer);
                rows.add(row);
                Position position = new Position(answer.getObject(11, LocalDateTime.class), row.seq());
                last = position.compareTo(last) > 0 ? position : last;
            }
        }
        return new Batch(rows, last);
    }

    private static Row row(ResultSet answer) throws SQLException {
        Carried carried = new Carried(
                answer.getObject(3),
                answer.getString(4),
                answer.getString(5),
                answer.getString(6),
                answer.getString(7),
                answer.getString(8),
                answer.getString(9),
                answer.getInt(10));
        return new Row(answer.getLong(1), Order.numberIn(answer.getBytes(2)), carried);
    }
}
