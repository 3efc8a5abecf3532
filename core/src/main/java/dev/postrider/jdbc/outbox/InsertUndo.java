package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;

/** Deletes rows that this transaction inserted: a mark without a message, or the messages of a refused batch. */
final class InsertUndo {

    private static final String TAKE_BACK_MARK =
            "DELETE FROM {dedup} WHERE topic_id = ? AND key_hash = ? AND message_id = ?";

    private static final String TAKE_BACK_MESSAGE = "DELETE FROM {message} WHERE id = ?";

    private final SqlRunner sql;

    InsertUndo(SqlRunner sql) {
        this.sql = sql;
    }

    /** Deletes marks that this transaction inserted and that have no message. If that fails, the transaction is rolled back. */
    void takeBackMarks(Connection connection, Collection<NewRow> rows) throws SQLException {
        try {
            for (NewRow row : rows) {
                takeBackMark(connection, row);
            }
        } catch (SQLException | RuntimeException | Error e) {
            Sessions.rollback(connection, e);
            throw e;
        }
    }

    void takeBackMark(Connection connection, NewRow row) throws SQLException {
        NewRow.Mark mark = row.requireMark();
        int met = sql.update(
                connection,
                TAKE_BACK_MARK,
                binder -> binder.integer(mark.topicId).bytes(mark.keyHash).uuid(row.id()));
        SqlRunner.expect(1, met, "delete an idempotency key without a message");
    }

    /** Deletes a message that this transaction inserted, and its mark. */
    void takeBack(Connection connection, NewRow row) throws SQLException {
        int met = sql.update(connection, TAKE_BACK_MESSAGE, binder -> binder.uuid(row.id()));
        SqlRunner.expect(1, met, "delete a message of this transaction");
        if (row.mark() != null) {
            takeBackMark(connection, row);
        }
    }
}
