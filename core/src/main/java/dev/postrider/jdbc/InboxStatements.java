package dev.postrider.jdbc;

import dev.postrider.message.MessageId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The statements of the inbox on one database. Immutable, thread-safe. */
abstract class InboxStatements {

    private final Dialect dialect;

    InboxStatements(Dialect dialect) {
        this.dialect = dialect;
    }

    /**
     * Whether the database may roll back a transaction and let its client continue in a new one, and a savepoint shows it. Then a
     * transaction that ran statements of user code must be checked before its commit: it must still be the transaction that was begun.
     */
    abstract boolean canLoseATransaction();

    /**
     * Inserts the marks in the given order. Leaves out marks that exist and marks of ids that are too old. Waits for other transactions
     * that are inserting the same marks.
     *
     * @return the keys of the inserted marks
     */
    abstract Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException;

    /** Reads existing marks. A key that became free meanwhile, or that is too old, is not in the result. */
    abstract Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys)
            throws SQLException;

    /** Finds the keys that are so old that their marks may have been removed. */
    abstract Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) throws SQLException;

    /** Removes marks older than the age, row by row. Leaves out marks that reached this age longer ago than the span. */
    abstract int purge(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    /** The partitions of the marks; empty if the database does not support them. */
    abstract Optional<InboxPartitions> partitions();

    final Map<InboxMark.Key, InboxMark> marks(ResultSet rows) throws SQLException {
        Map<InboxMark.Key, InboxMark> marks = new HashMap<>();
        while (rows.next()) {
            InboxMark.Key key = key(rows);
            marks.put(key, new InboxMark(key, rows.getBytes("payload_hash"), dialect.readTime(rows, "seen_at")));
        }
        return marks;
    }

    final InboxMark.Key key(ResultSet rows) throws SQLException {
        return new InboxMark.Key(new MessageId(dialect.readUuid(rows, "message_id")), rows.getString("tenant"));
    }
}
