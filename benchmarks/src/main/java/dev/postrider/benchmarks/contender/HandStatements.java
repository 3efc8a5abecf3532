package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The statements of the loops that are written by hand. */
interface HandStatements {

    int BATCH = 500;

    /** What a receiver needs of a message besides its payload: to know it, to tell it from others, to know what it is. */
    String COLUMNS = "seq, payload, id, type, tenant, ordering_key, idempotency_key, content_type, headers, attempts";

    /** A message as a loop sees it. */
    record Row(long seq, int order, Carried carried) {}

    /** What is delivered with the payload. */
    record Carried(
            Object id,
            String type,
            @Nullable String tenant,
            @Nullable String key,
            @Nullable String idempotencyKey,
            String contentType,
            String headers,
            int attempts) {}

    /** Locks a batch of what is due, passing over what others have locked. */
    List<Row> lock(Connection connection) throws SQLException;

    /** The same, with a lease that outlasts the transaction. */
    List<Row> lease(Connection connection) throws SQLException;

    /** What is next in a lane after this number, which nobody else reads. */
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
                Carried carried = new Carried(
                        answer.getObject(3),
                        answer.getString(4),
                        answer.getString(5),
                        answer.getString(6),
                        answer.getString(7),
                        answer.getString(8),
                        answer.getString(9),
                        answer.getInt(10));
                rows.add(new Row(answer.getLong(1), Order.numberIn(answer.getBytes(2)), carried));
            }
        }
        return rows;
    }
}
