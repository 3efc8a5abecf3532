package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One insert on a database whose statements do not return the changed rows: first the marks, then the messages of new marks. */
final class InnoDbInsert {

    private final InnoDbInserts statements;
    private final Connection connection;
    private final @Nullable LeasedInsert leasedInsert;
    private final InsertUndo undo;

    InnoDbInsert(InnoDbInserts statements, Connection connection, @Nullable LeasedInsert leasedInsert) {
        this.statements = statements;
        this.connection = connection;
        this.leasedInsert = leasedInsert;
        this.undo = new InsertUndo(statements.sql);
    }

    /** Inserts the rows and their marks in the given order, except rows whose key or id exists. Returns the ids of the inserted rows. */
    Set<UUID> insert(List<NewRow> rows) throws SQLException {
        List<NewRow> keyed = rows.stream().filter(row -> row.mark() != null).toList();
        if (keyed.isEmpty()) {
            return insertMessages(rows);
        }
        return rows.size() == 1 ? insertWithMark(rows.get(0)) : insertWithMarks(rows, inMarkOrder(keyed));
    }

    // A mark without its message would suppress the message for ever. So both are inserted or neither, also if the
    // caller continues its transaction after an error.

    /** Inserts one message with its mark. A single mark can be deleted again, which saves the two round trips of a savepoint. */
    private Set<UUID> insertWithMark(NewRow row) throws SQLException {
        if (statements.insertMarks(connection, List.of(row)) == 0) {
            return Set.of();
        }
        Set<UUID> inserted;
        try {
            inserted = insertMessages(List.of(row));
        } catch (Throwable e) {
            takeBack(row, e);
            throw e;
        }
        if (inserted.isEmpty()) {
            undo.takeBackMarks(connection, List.of(row));
        }
        return inserted;
    }

    /** Deletes the mark of a failed insert. If the delete fails, or the failure was a conflict, the transaction is rolled back. */
    private void takeBack(NewRow row, Throwable reason) {
        if (reason instanceof SQLException e && SqlErrors.isConflict(e)) {
            Sessions.rollback(connection, reason);
            return;
        }
        try {
            undo.takeBackMark(connection, row);
        } catch (Throwable e) {
            reason.addSuppressed(e);
            Sessions.rollback(connection, reason);
        }
    }

    private Set<UUID> insertWithMarks(List<NewRow> rows, List<NewRow> keyed) throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        try {
            Set<NewRow.Mark> first = newMarks(keyed, savepoint);
            List<NewRow> wanted = firstUses(rows, first);
            Set<UUID> inserted = insertMessages(wanted);
            undo.takeBackMarks(
                    connection,
                    wanted.stream()
                            .filter(row -> row.mark() != null && !inserted.contains(row.id()))
                            .toList());
            connection.releaseSavepoint(savepoint);
            return inserted;
        } catch (Throwable e) {
            Sessions.rollbackTo(connection, savepoint, e);
            throw e;
        }
    }

    /**
     * Inserts the marks that do not exist yet and returns them. The row count is a complete answer if all marks were new, or none.
     * Otherwise the marks that name these messages are new. If more marks name them than were inserted, a message was already written
     * before: then the method rolls back to the savepoint and inserts the marks one by one.
     */
    private Set<NewRow.Mark> newMarks(List<NewRow> keyed, Savepoint before) throws SQLException {
        int inserted = statements.insertMarks(connection, keyed);
        Set<NewRow.Mark> marks = new TreeSet<>();
        if (inserted == 0) {
            return marks;
        }
        keyed.forEach(row -> marks.add(row.requireMark()));
        if (inserted == marks.size()) {
            return marks;
        }
        Map<NewRow.Mark, FirstUse> uses = statements.firstUses(connection, marks);
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
            if (statements.insertMarks(connection, List.of(row)) == 1) {
                ours.add(row.requireMark());
            }
        }
        return ours;
    }

    /** Returns the rows without a key and the first row of each new mark, in their order. */
    private static List<NewRow> firstUses(List<NewRow> rows, Set<NewRow.Mark> marks) {
        Set<NewRow.Mark> left = new TreeSet<>(marks);
        return rows.stream()
                .filter(row -> row.mark() == null || left.remove(row.mark()))
                .toList();
    }

    /** Sorts by mark. The sort is stable: of two messages with one key, the first gets the mark. */
    private static List<NewRow> inMarkOrder(List<NewRow> keyed) {
        List<NewRow> sorted = new ArrayList<>(keyed);
        sorted.sort((a, b) -> a.requireMark().compareTo(b.requireMark()));
        return sorted;
    }

    /** Inserts the messages. After a duplicate id, it removes the live ids and inserts the rest. A failed statement inserts no row. */
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
                remaining.keySet().removeAll(statements.liveIds(connection, remaining.keySet()));
            }
        }
        return Set.of();
    }

    private void insertRows(Collection<NewRow> rows) throws SQLException {
        List<NewRow> inserted = leasedInsert == null ? List.of() : open(leasedInsert.wanted(rows));
        if (leasedInsert == null || inserted.isEmpty()) {
            statements.insertRows(connection, rows);
        } else {
            statements.insertLeased(connection, rows, leasedInsert, inserted);
        }
    }

    /** Returns the rows whose topic is not paused. A query inside the INSERT would lock the topic's row until the commit. */
    private List<NewRow> open(List<NewRow> wanted) throws SQLException {
        List<Integer> topics = wanted.stream().map(NewRow::topicId).distinct().toList();
        if (topics.isEmpty()) {
            return wanted;
        }
        Set<Integer> paused = statements.paused(connection, topics);
        return wanted.stream().filter(row -> !paused.contains(row.topicId())).toList();
    }
}
