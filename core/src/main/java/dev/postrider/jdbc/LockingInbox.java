package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** The inbox on databases that do not return what they changed. */
final class LockingInbox extends InboxStatements {

    /** By the whole primary key, which locks no gap before it. */
    private static final String FIND_ONE =
            "SELECT * FROM {inbox_mark} WHERE message_id = ? AND consumer = ? AND tenant = ?";

    private static final String FIND = "SELECT * FROM {inbox_mark} WHERE consumer = ? AND message_id IN ({values})";

    private static final String LOCK_OLD =
            "SELECT message_id FROM {inbox_mark} WHERE seen_at < {ago} AND seen_at >= {ago} ORDER BY seen_at LIMIT ? FOR UPDATE SKIP LOCKED";

    /** Marks of one id go together, if all of them are past their time. */
    private static final String PURGE = "DELETE FROM {inbox_mark} WHERE seen_at < {ago} AND message_id IN ({values})";

    private final LockingDialect dialect;

    LockingInbox(LockingDialect dialect) {
        super(dialect);
        this.dialect = dialect;
    }

    /** A deadlock rolls back the whole transaction, and the next statement begins another one. */
    @Override
    boolean canLoseATransaction() {
        return true;
    }

    @Override
    Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks) throws SQLException {
        if (marks.size() == 1) {
            return dialect.insertInboxMarks(connection, consumer, marks) == 1 ? keys(marks) : Set.of();
        }
        Savepoint before = connection.setSavepoint();
        try {
            Set<InboxMark.Key> inserted = insertMany(connection, consumer, marks, before);
            connection.releaseSavepoint(before);
            return inserted;
        } catch (Throwable e) {
            LockingDialect.rollbackTo(connection, before, e);
            throw e;
        }
    }

    /**
     * The count tells which were new when all were or none. Otherwise it is begun again without those that can be seen to be there,
     * and if even then one is taken, which is a race, they are inserted one by one.
     */
    private Set<InboxMark.Key> insertMany(
            Connection connection, String consumer, List<InboxMark> marks, Savepoint before) throws SQLException {
        int inserted = dialect.insertInboxMarks(connection, consumer, marks);
        if (inserted == 0 || inserted == marks.size()) {
            return inserted == 0 ? Set.of() : keys(marks);
        }
        connection.rollback(before);
        Map<InboxMark.Key, InboxMark> there = look(connection, consumer, keys(marks), "");
        List<InboxMark> others =
                marks.stream().filter(mark -> !there.containsKey(mark.key)).toList();
        if (others.isEmpty() || dialect.insertInboxMarks(connection, consumer, others) == others.size()) {
            return keys(others);
        }
        connection.rollback(before);
        return insertOneByOne(connection, consumer, marks);
    }

    private Set<InboxMark.Key> insertOneByOne(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException {
        Set<InboxMark.Key> inserted = new HashSet<>();
        for (InboxMark mark : marks) {
            if (dialect.insertInboxMarks(connection, consumer, List.of(mark)) == 1) {
                inserted.add(mark.key);
            }
        }
        return inserted;
    }

    /** A locking read: it sees what the insert met, also in a transaction with an older snapshot. */
    @Override
    Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys)
            throws SQLException {
        return look(connection, consumer, keys, dialect.lockingRead());
    }

    private Map<InboxMark.Key, InboxMark> look(
            Connection connection, String consumer, Collection<InboxMark.Key> keys, String lock) throws SQLException {
        if (keys.size() == 1) {
            InboxMark.Key key = keys.iterator().next();
            return dialect.query(connection, FIND_ONE + lock, binder -> bind(binder, key, consumer), this::marks);
        }
        Set<UUID> ids = keys.stream().map(key -> key.id().value()).collect(Collectors.toSet());
        return dialect.query(
                connection,
                LockingDialect.in(FIND + lock, ids.size()),
                binder -> bindIds(binder.text(consumer), ids),
                this::marks);
    }

    /** No partitions, so nothing is ever removed but by the age of its mark. */
    @Override
    Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) {
        return Set.of();
    }

    @Override
    int purge(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        Set<UUID> old = dialect.query(
                connection,
                LOCK_OLD,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit),
                rows -> {
                    Set<UUID> ids = new HashSet<>();
                    while (rows.next()) {
                        ids.add(dialect.readUuid(rows, "message_id"));
                    }
                    return ids;
                });
        return old.isEmpty()
                ? 0
                : dialect.update(
                        connection, LockingDialect.in(PURGE, old.size()), binder -> bindIds(binder.micros(age), old));
    }

    @Override
    Optional<InboxPartitions> partitions() {
        return Optional.empty();
    }

    private static void bindIds(Binder binder, Collection<UUID> ids) throws SQLException {
        for (UUID id : LockingDialect.padded(ids)) {
            binder.uuid(id);
        }
    }

    private static Binder bind(Binder binder, InboxMark.Key key, String consumer) throws SQLException {
        return binder.uuid(key.id().value()).text(consumer).text(key.tenant());
    }

    private static Set<InboxMark.Key> keys(List<InboxMark> marks) {
        return marks.stream().map(mark -> mark.key).collect(Collectors.toSet());
    }
}
