package dev.postrider.jdbc.inbox;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The statements of the inbox on one database. */
public interface InboxStatements {

    /**
     * Whether the database may roll back a transaction and let its client continue in a new one, and a savepoint shows it. Then a transaction that ran statements of
     * user code must be checked before its commit: it must still be the transaction that was begun.
     */
    boolean canLoseATransaction();

    /**
     * Inserts the marks in the given order. Leaves out marks that exist and marks of ids that are too old. Waits for other transactions
     * that are inserting the same marks.
     *
     * @return the keys of the inserted marks
     */
    Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks) throws SQLException;

    /** Reads existing marks. A key that became free meanwhile, or that is too old, is not in the result. */
    Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys)
            throws SQLException;

    /** Finds the keys that are so old that their marks may have been removed. */
    Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) throws SQLException;

    /** Removes marks older than the age, row by row. Leaves out marks that reached this age longer ago than the span. */
    int purge(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    /** The partitions of the marks; empty if the database does not support them. */
    Optional<InboxPartitions> partitions();

    static InboxStatements of(SqlRunner sql) {
        return switch (sql.kind()) {
            case POSTGRESQL -> new PostgresInbox(sql);
            case MYSQL, MARIADB -> new InnoDbInbox(sql);
            case H2 -> new H2Inbox(sql);
        };
    }
}
