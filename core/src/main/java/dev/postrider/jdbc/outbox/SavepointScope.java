package dev.postrider.jdbc.outbox;

import dev.postrider.error.PostriderException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.Transactions;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of the caller's transaction that savepoints can undo. It does not observe the commit, so there is no local hand-over. Not
 * thread-safe.
 */
final class SavepointScope implements Transactions.Part {

    private final Connection connection;
    private final JdbcOutbox outboxes;
    private final int stagedLimit;
    private final Deque<Savepoint> marks = new ArrayDeque<>();
    private JdbcUnitOfWork unit;
    private @Nullable PostriderException lost;

    /** @throws UnusableConnectionException if the connection is not in a transaction of this database */
    SavepointScope(Connection connection, JdbcOutbox outboxes, int stagedLimit) {
        this.connection = connection;
        this.outboxes = outboxes;
        this.stagedLimit = stagedLimit;
        this.unit = newUnit();
        try {
            outboxes.connections().checkUsable(connection);
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction("join the transaction", e);
        }
    }

    private JdbcUnitOfWork newUnit() {
        return new JdbcUnitOfWork(connection, outboxes, stagedLimit, HandOver.none());
    }

    @Override
    public void mark() {
        try {
            marks.push(connection.setSavepoint());
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction("set a savepoint", e);
        }
    }

    @Override
    public void undo() {
        JdbcUnitOfWork undone = unit;
        undone.abandoned();
        unit = newUnit();
        requireNotLost(undone);
        try {
            connection.rollback(marks.pop());
        } catch (SQLException e) {
            throw lost(undone, "return to the savepoint", e);
        }
    }

    /** The transaction is lost once and for all, also for the units that follow. What a new transaction contains is rolled back. */
    private void requireNotLost(JdbcUnitOfWork undone) {
        PostriderException ended = undone.ended();
        if (lost == null && ended != null) {
            Sessions.rollback(connection, ended);
            lost = ended;
        }
        if (lost != null) {
            throw lost;
        }
    }

    /** A missing savepoint means that a new transaction has begun. It is rolled back, because the earlier work is lost. */
    private PostriderException lost(JdbcUnitOfWork unit, String doing, SQLException e) {
        if (!SqlErrors.isMissingSavepoint(e)) {
            return SqlErrors.translateInTransaction(doing, e);
        }
        PostriderException reason = unit.lost(e);
        Sessions.rollback(connection, reason);
        lost = reason;
        return reason;
    }

    @Override
    public void undoAll() {
        while (marks.size() > 1) {
            marks.pop();
        }
        try {
            undo();
        } finally {
            unit.abandoned();
        }
    }

    @Override
    public void flush() {
        unit.flush();
        unit.requireIntact();
        requireIntact();
    }

    /**
     * Releases the last savepoint, which is no longer needed: the release fails if its transaction is gone. The first savepoint stays for
     * {@link #undoAll}.
     */
    private void requireIntact() {
        if (marks.size() > 1) {
            try {
                connection.releaseSavepoint(marks.pop());
            } catch (SQLException e) {
                throw lost(unit, "release a savepoint", e);
            }
        }
    }

    @Override
    public Connection connection() {
        return unit.connection();
    }

    @Override
    public void stage(Message message) {
        unit.stage(message);
    }

    @Override
    public void stage(Collection<Message> messages) {
        unit.stage(messages);
    }

    @Override
    public List<Enqueued> staged() {
        return unit.staged();
    }

    @Override
    public Outbox outbox() {
        return unit.outbox();
    }
}
