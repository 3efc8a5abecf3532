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

/** What one database does for the inbox. Immutable, thread-safe. */
abstract class InboxStatements {

    private final Dialect dialect;

    InboxStatements(Dialect dialect) {
        this.dialect = dialect;
    }

    /**
     * Whether the database may undo a transaction and let its client go on in a new one: then whoever ran statements in between must
     * be asked whether the transaction is still the one that it was.
     */
    abstract boolean canLoseATransaction();

    /**
     * Inserts the marks in the order given, leaving out those that are taken and those of ids that are too old. Waits for whoever is
     * about to insert the same. Returns the keys of those inserted.
     */
    abstract Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException;

    /** The marks that are there. Keys without an answer were given free meanwhile, or are too old. */
    abstract Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys)
            throws SQLException;

    /** Which of these cannot be told from those whose marks were removed. */
    abstract Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) throws SQLException;

    /** Removes marks that are as old, one by one; only those that have been so for no longer than the span. */
    abstract int purge(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    /** Where marks can be kept in partitions. */
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
