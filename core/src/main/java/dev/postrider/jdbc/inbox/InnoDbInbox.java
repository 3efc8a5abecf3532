package dev.postrider.jdbc.inbox;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.GuardedConnection;
import dev.postrider.jdbc.sql.InsertTexts;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The inbox on MySQL and MariaDB, whose statements do not return the changed rows. H2 runs the same statements, except the INSERT. In
 * braces: table names, {@code {rows}} for rows of parameters, and {@code {delete inbox_mark}} as in {@link DatabaseKind#spelled}.
 */
class InnoDbInbox implements InboxStatements {

    /** IGNORE hides only duplicate keys here: the lengths of names and tenants are checked before. */
    static final String INSERT =
            "INSERT IGNORE INTO {inbox_mark} (message_id, consumer, tenant, payload_hash, seen_at) VALUES {rows}";

    static final String ROW = "(?, ?, ?, ?, UTC_TIMESTAMP(6))";

    /** Uses the whole primary key: the statement reads, locks and waits for no other row, regardless of statistics. */
    private static final String FIND = "SELECT * FROM {inbox_mark} FORCE INDEX (PRIMARY) WHERE ";

    private static final String PURGE = "{delete inbox_mark} WHERE ";

    private static final String KEY = "(message_id = ? AND consumer = ? AND tenant = ?)";

    /** Reads in index order, so that only returned rows are locked. Rows locked by other transactions are skipped. */
    static final String LOCK_OLD = """
            SELECT message_id, consumer, tenant FROM {inbox_mark} FORCE INDEX ({index inbox_mark_seen})
            WHERE seen_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
              AND seen_at >= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY seen_at LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    /** The primary key of a mark. */
    private record MarkKey(InboxMark.Key key, String consumer) {}

    final SqlRunner sql;
    private final InsertTexts texts;

    InnoDbInbox(SqlRunner sql) {
        this.sql = sql;
        this.texts = new InsertTexts(sql);
    }

    /** Inserts the marks that do not exist yet, in the given order, and returns their number. */
    int insertMarks(Connection connection, String consumer, List<InboxMark> marks) throws SQLException {
        String insert = texts.withRows(INSERT, ROW, marks.size());
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(insert)) {
            Binder binder = sql.bind(statement);
            for (InboxMark mark : marks) {
                mark.bind(binder, consumer);
            }
            return statement.executeUpdate();
        }
    }

    /** A deadlock rolls back the whole transaction, and the next statement begins a new one. */
    @Override
    public boolean canLoseATransaction() {
        return sql.kind().checksSavepoints();
    }

    @Override
    public Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException {
        if (marks.size() == 1) {
            return insertMarks(connection, consumer, marks) == 1 ? keys(marks) : Set.of();
        }
        Savepoint before = connection.setSavepoint();
        try {
            Set<InboxMark.Key> inserted = insertMany(connection, consumer, marks, before);
            connection.releaseSavepoint(before);
            return inserted;
        } catch (Throwable e) {
            Sessions.rollbackTo(connection, before, e);
            throw e;
        }
    }

    /**
     * Inserts the marks in one statement. Its row count is a complete answer if all marks were new, or none. Otherwise the method rolls
     * back to the savepoint and inserts again without the visible marks. If a mark exists even then, another transaction won a race, and
     * the method inserts the marks one by one.
     */
    private Set<InboxMark.Key> insertMany(
            Connection connection, String consumer, List<InboxMark> marks, Savepoint before) throws SQLException {
        int inserted = insertMarks(connection, consumer, marks);
        if (inserted == 0 || inserted == marks.size()) {
            return inserted == 0 ? Set.of() : keys(marks);
        }
        connection.rollback(before);
        Map<InboxMark.Key, InboxMark> there = lookUp(connection, consumer, keys(marks), "");
        List<InboxMark> others =
                marks.stream().filter(mark -> !there.containsKey(mark.key)).toList();
        if (others.isEmpty() || insertMarks(connection, consumer, others) == others.size()) {
            return keys(others);
        }
        connection.rollback(before);
        return insertOneByOne(connection, consumer, marks);
    }

    private Set<InboxMark.Key> insertOneByOne(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException {
        Set<InboxMark.Key> inserted = new HashSet<>();
        for (InboxMark mark : marks) {
            if (insertMarks(connection, consumer, List.of(mark)) == 1) {
                inserted.add(mark.key);
            }
        }
        return inserted;
    }

    /** Uses a locking read, which sees the marks that the insert conflicted with, also in a transaction with an older snapshot. */
    @Override
    public Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys)
            throws SQLException {
        return lookUp(connection, consumer, keys, sql.kind().newestRead());
    }

    private Map<InboxMark.Key, InboxMark> lookUp(
            Connection connection, String consumer, Collection<InboxMark.Key> keys, String lock) throws SQLException {
        List<MarkKey> places =
                keys.stream().map(key -> new MarkKey(key, consumer)).toList();
        return sql.query(
                connection,
                findSql(places.size(), lock),
                binder -> bindPlaces(binder, places),
                rows -> InboxMark.read(rows, sql));
    }

    static String findSql(int keys, String lock) {
        return FIND + places(keys) + lock;
    }

    static String purgeSql(int keys) {
        return PURGE + places(keys);
    }

    private static String places(int count) {
        return String.join(" OR ", Collections.nCopies(ValueList.paddedSize(count), KEY));
    }

    /** Always empty: without partitions, a mark is removed only by its own age. */
    @Override
    public Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) {
        return Set.of();
    }

    @Override
    public int purge(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        List<MarkKey> old = sql.query(
                connection,
                LOCK_OLD,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit),
                rows -> {
                    List<MarkKey> found = new ArrayList<>();
                    while (rows.next()) {
                        found.add(new MarkKey(InboxMark.Key.read(rows, sql), rows.getString("consumer")));
                    }
                    return found;
                });
        int purged = 0;
        for (int start = 0; start < old.size(); start += ValueList.ROWS_PER_STATEMENT) {
            List<MarkKey> chunk = old.subList(start, Math.min(old.size(), start + ValueList.ROWS_PER_STATEMENT));
            purged += sql.update(connection, purgeSql(chunk.size()), binder -> bindPlaces(binder, chunk));
        }
        SqlRunner.expect(old.size(), purged, "purge marks of the inbox");
        return purged;
    }

    @Override
    public Optional<InboxPartitions> partitions() {
        return Optional.empty();
    }

    private static void bindPlaces(Binder binder, List<MarkKey> places) throws SQLException {
        for (MarkKey place : ValueList.padded(places)) {
            binder.uuid(place.key().id().value())
                    .text(place.consumer())
                    .text(place.key().tenant());
        }
    }

    private static Set<InboxMark.Key> keys(List<InboxMark> marks) {
        return marks.stream().map(mark -> mark.key).collect(Collectors.toSet());
    }
}
