package dev.postrider.jdbc;

import dev.postrider.internal.store.CommandId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The rows of commands in the simulated database, and how statements see, lock and change them. */
final class CommandTable {

    private final SimulatedDatabase database;

    CommandTable(SimulatedDatabase database) {
        this.database = database;
    }

    @Nullable
    CommandState seen(Transaction transaction, CommandId id) {
        Cell<CommandState> cell = database.commands.get(id);
        return cell == null ? null : cell.seenBy(transaction);
    }

    /** As an answer. */
    List<Map<String, @Nullable Object>> rows(@Nullable CommandState row) {
        return row == null ? List.of() : List.of(row.columns(database.micros()));
    }

    List<CommandState> seenWhere(Transaction transaction, Predicate<CommandState> condition) {
        List<CommandState> rows = new ArrayList<>();
        for (CommandId id : database.commands.keySet()) {
            CommandState row = seen(transaction, id);
            if (row != null && condition.test(row)) {
                rows.add(row);
            }
        }
        return rows;
    }

    List<Map<String, @Nullable Object>> rowsWhere(Transaction transaction, Predicate<CommandState> condition) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        seenWhere(transaction, condition).forEach(row -> rows.addAll(rows(row)));
        return rows;
    }

    /** Locks the first of them, passing over what is locked; what was changed meanwhile is looked at again. */
    List<Map<String, @Nullable Object>> lockFree(
            Session session, Transaction transaction, Predicate<CommandState> condition, int limit)
            throws SQLException {
        List<CommandState> found = seenWhere(transaction, condition);
        session.meanwhile(transaction);
        List<Map<String, @Nullable Object>> locked = new ArrayList<>();
        for (CommandState row : found) {
            boolean got = locked.size() < limit && database.tryLock(cell(row.id), transaction);
            CommandState newest = got ? seen(transaction, row.id) : null;
            if (newest != null && condition.test(newest)) {
                locked.addAll(rows(newest));
            }
        }
        return locked;
    }

    /** Waits for the transaction that has changed the same key. Returns whether the key was free. */
    boolean insert(Transaction transaction, CommandState row) throws SQLException {
        Cell<CommandState> cell = database.commands.computeIfAbsent(row.id, absent -> new Cell<>());
        database.awaitChange(cell, transaction);
        if (cell.seenBy(transaction) != null) {
            return false;
        }
        database.lock(cell, transaction, false);
        write(row);
        return true;
    }

    boolean update(
            Session session,
            Transaction transaction,
            CommandId id,
            Predicate<CommandState> condition,
            Consumer<CommandState> change)
            throws SQLException {
        CommandState row = lock(session, transaction, id, condition);
        if (row != null) {
            change.accept(row);
            write(row);
            session.meanwhile(transaction);
        }
        return row != null;
    }

    int updateAll(
            Session session,
            Transaction transaction,
            Collection<CommandId> ids,
            Predicate<CommandState> condition,
            Consumer<CommandState> change)
            throws SQLException {
        int met = 0;
        for (CommandId id : ids) {
            met += update(session, transaction, id, condition, change) ? 1 : 0;
        }
        return met;
    }

    boolean delete(Session session, Transaction transaction, CommandId id, Predicate<CommandState> condition)
            throws SQLException {
        CommandState row = lock(session, transaction, id, condition);
        if (row != null) {
            cell(id).pending = null;
            cell(id).isChanged = true;
        }
        return row != null;
    }

    /** What a statement does not see it does not wait for. */
    private @Nullable CommandState lock(
            Session session, Transaction transaction, CommandId id, Predicate<CommandState> condition)
            throws SQLException {
        CommandState seen = seen(transaction, id);
        if (seen == null || !condition.test(seen)) {
            return null;
        }
        session.meanwhile(transaction);
        database.lock(cell(id), transaction, false);
        CommandState newest = seen(transaction, id);
        return newest != null && condition.test(newest) ? newest.copy() : null;
    }

    private void write(CommandState row) {
        Cell<CommandState> cell = cell(row.id);
        cell.pending = row;
        cell.isChanged = true;
    }

    private Cell<CommandState> cell(CommandId id) {
        return Objects.requireNonNull(database.commands.get(id));
    }
}
