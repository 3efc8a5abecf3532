package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One insert on a database that does not return what it changed: marks first, then the messages of those that were new. */
final class LockingInsert {

    private final LockingDialect dialect;
    private final Connection connection;
    private final @Nullable Birth birth;

    LockingInsert(LockingDialect dialect, Connection connection, @Nullable Birth birth) {
        this.dialect = dialect;
        this.connection = connection;
        this.birth = birth;
    }

    /** Inserts the rows and their marks in the order given, leaving out those whose key or id is there already; says which went in. */
    Set<UUID> insert(List<NewRow> rows) throws SQLException {
        List<NewRow> keyed = rows.stream().filter(row -> row.mark() != null).toList();
        if (keyed.isEmpty()) {
            return insertMessages(rows);
        }
        return rows.size() == 1 ? insertWithMark(rows.get(0)) : insertWithMarks(rows, inMarkOrder(keyed));
    }

    // A mark without its message would swallow the event for ever: both or neither, also when the caller goes on after
    // an error.

    /** One mark can be taken back by itself, which saves the two round trips of a savepoint. */
    private Set<UUID> insertWithMark(NewRow row) throws SQLException {
        if (dialect.insertMarks(connection, List.of(row)) == 0) {
            return Set.of();
        }
        try {
            return insertMessages(List.of(row));
        } catch (Throwable e) {
            takeBack(row, e);
            throw e;
        }
    }

    /** If the mark cannot be taken back, the transaction cannot be saved; after a conflict it is lost already. */
    private void takeBack(NewRow row, Throwable reason) {
        if (reason instanceof SQLException e && SqlErrors.isConflict(e)) {
            Sessions.rollback(connection, reason);
            return;
        }
        try {
            NewRow.Mark mark = row.requireMark();
            int met = dialect.update(
                    connection,
                    LockingSql.TAKE_BACK_MARK,
                    binder -> binder.integer(mark.topicId).bytes(mark.keyHash).uuid(row.id()));
            LockingDialect.expect(1, met, "take back an idempotency key");
        } catch (Throwable e) {
            reason.addSuppressed(e);
            Sessions.rollback(connection, reason);
        }
    }

    private Set<UUID> insertWithMarks(List<NewRow> rows, List<NewRow> keyed) throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        try {
            Set<NewRow.Mark> first = newMarks(keyed, savepoint);
            Set<UUID> inserted = insertMessages(firstUses(rows, first));
            connection.releaseSavepoint(savepoint);
            return inserted;
        } catch (Throwable e) {
            LockingDialect.rollbackTo(connection, savepoint, e);
            throw e;
        }
    }

    /**
     * Inserts the marks that are not taken, and says which. The count tells it, except when some are taken: then those that name
     * our messages are new, unless there are more of them than were inserted, because the same message was written before.
     */
    private Set<NewRow.Mark> newMarks(List<NewRow> keyed, Savepoint before) throws SQLException {
        int inserted = dialect.insertMarks(connection, keyed);
        Set<NewRow.Mark> marks = new TreeSet<>();
        if (inserted == 0) {
            return marks;
        }
        keyed.forEach(row -> marks.add(row.requireMark()));
        if (inserted == marks.size()) {
            return marks;
        }
        Map<NewRow.Mark, FirstUse> uses = dialect.firstUses(connection, marks);
        Set<NewRow.Mark> ours = new TreeSet<>();
        keyed.stream().filter(row -> isNamed(row, uses)).forEach(row -> ours.add(row.requireMark()));
        if (inserted == ours.size()) {
            return ours;
        }
        connection.rollback(before);
        return newMarksOneByOne(keyed);
    }

    private static boolean isNamed(NewRow row, Map<NewRow.Mark, FirstUse> uses) {
        FirstUse use = uses.get(row.requireMark());
        return use != null && use.id().equals(row.message().id());
    }

    private Set<NewRow.Mark> newMarksOneByOne(List<NewRow> keyed) throws SQLException {
        Set<NewRow.Mark> ours = new TreeSet<>();
        for (NewRow row : keyed) {
            if (dialect.insertMarks(connection, List.of(row)) == 1) {
                ours.add(row.requireMark());
            }
        }
        return ours;
    }

    /** The rows without a key, and the first of each new mark, in their order. */
    private static List<NewRow> firstUses(List<NewRow> rows, Set<NewRow.Mark> marks) {
        Set<NewRow.Mark> left = new TreeSet<>(marks);
        return rows.stream()
                .filter(row -> row.mark() == null || left.remove(row.mark()))
                .toList();
    }

    /** Stable, so that of two messages with one key the first takes it. */
    private static List<NewRow> inMarkOrder(List<NewRow> keyed) {
        List<NewRow> sorted = new ArrayList<>(keyed);
        sorted.sort((a, b) -> a.requireMark().compareTo(b.requireMark()));
        return sorted;
    }

    /** An id that is there already is left out and the rest tried again; the failed statement itself left nothing behind. */
    private Set<UUID> insertMessages(List<NewRow> rows) throws SQLException {
        Map<UUID, NewRow> remaining = new LinkedHashMap<>();
        rows.forEach(row -> remaining.putIfAbsent(row.id(), row));
        for (int attempt = 0; !remaining.isEmpty(); attempt++) {
            try {
                insertRows(remaining.values());
                return remaining.keySet();
            } catch (SQLException e) {
                if (!SqlErrors.isDuplicateKey(e) || attempt > 2) {
                    throw e;
                }
                remaining.keySet().removeAll(liveIds(remaining.keySet()));
            }
        }
        return Set.of();
    }

    private void insertRows(Collection<NewRow> rows) throws SQLException {
        List<NewRow> born = birth == null ? List.of() : open(birth.wanted(rows));
        if (birth == null || born.isEmpty()) {
            dialect.insertRows(connection, rows);
        } else {
            insertBorn(rows, birth, born);
        }
    }

    /** Looked at before the insert and not in it, where it would lock the row of the topic until the commit. */
    private List<NewRow> open(List<NewRow> wanted) throws SQLException {
        List<Integer> topics = wanted.stream().map(NewRow::topicId).distinct().toList();
        if (topics.isEmpty()) {
            return wanted;
        }
        Set<Integer> paused = dialect.query(
                connection,
                LockingDialect.in(LockingSql.PAUSED, topics.size()),
                binder -> {
                    for (Integer topic : LockingDialect.padded(topics)) {
                        binder.integer(topic);
                    }
                },
                LockingInsert::topicNumbers);
        return wanted.stream().filter(row -> !paused.contains(row.topicId())).toList();
    }

    private static Set<Integer> topicNumbers(ResultSet rows) throws SQLException {
        Set<Integer> numbers = new HashSet<>();
        while (rows.next()) {
            numbers.add(rows.getInt("id"));
        }
        return numbers;
    }

    private void insertBorn(Collection<NewRow> rows, Birth leases, List<NewRow> born) throws SQLException {
        Set<NewRow> leased = new HashSet<>(born);
        String values = rows.stream()
                .map(row -> leased.contains(row) ? LockingSql.INSERT_BORN_ROW : LockingSql.INSERT_UNBORN_ROW)
                .collect(Collectors.joining(", "));
        String insert = dialect.sqlOnce(
                LockingSql.INSERT_BORN.replace("{rows}", values).replace("{time}", dialect.timeParameter()));
        try (PreparedStatement statement = connection.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
            Binder binder = dialect.bind(statement);
            for (NewRow row : rows) {
                binder.row(row);
                if (leased.contains(row)) {
                    binder.uuid(leases.lease().token())
                            .text(leases.lease().holder())
                            .micros(leases.lease().length());
                }
            }
            LockingDialect.expect(rows.size(), statement.executeUpdate(), "insert messages");
            if (rows.size() == 1) {
                leases.born(born.get(0).message().id().value(), generatedNumber(statement));
            } else {
                numbers(born).forEach((seq, id) -> leases.born(id, seq));
            }
        }
    }

    private static long generatedNumber(PreparedStatement statement) throws SQLException {
        try (ResultSet keys = statement.getGeneratedKeys()) {
            if (!keys.next()) {
                throw new SQLException("The driver does not say which number the message was given");
            }
            return keys.getLong(1);
        }
    }

    /** Drivers differ in what they say of several rows, so they are read back. */
    private Map<Long, UUID> numbers(List<NewRow> rows) throws SQLException {
        return dialect.query(
                connection,
                LockingDialect.in(LockingSql.NUMBERS, rows.size()),
                binder -> {
                    for (NewRow row : LockingDialect.padded(rows)) {
                        binder.uuid(row.message().id().value());
                    }
                },
                dialect::numbersWithIds);
    }

    private Set<UUID> liveIds(Set<UUID> ids) throws SQLException {
        return dialect.query(
                connection,
                LockingDialect.in(LockingSql.LIVE_IDS + dialect.lockingRead(), ids.size()),
                binder -> {
                    for (UUID id : LockingDialect.padded(ids)) {
                        binder.uuid(id);
                    }
                },
                dialect::ids);
    }
}
