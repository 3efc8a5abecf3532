package dev.postrider.jdbc;

import dev.postrider.error.PostriderException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.store.HandOver;
import dev.postrider.store.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/** A part of the caller's transaction, undone by savepoints. Nobody here learns of the commit, so nothing is handed over. */
final class JdbcPart implements Transactions.Part {

    private final Connection connection;
    private final JdbcOutbox outboxes;
    private final int stagedLimit;
    private final Deque<Savepoint> marks = new ArrayDeque<>();
    private JdbcUnitOfWork unit;

    /** @throws UnusableConnectionException when it is in no transaction of this database */
    JdbcPart(Connection connection, JdbcOutbox outboxes, int stagedLimit) {
        this.connection = connection;
        this.outboxes = outboxes;
        this.stagedLimit = stagedLimit;
        this.unit = newUnit();
        try {
            outboxes.checkUsable(connection);
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
        unit = newUnit();
        try {
            connection.rollback(marks.pop());
        } catch (SQLException e) {
            throw lost("return to the savepoint", e);
        }
    }

    /** Without the savepoint the transaction is another one, and what is in it now must not be committed without the rest. */
    private PostriderException lost(String doing, SQLException e) {
        if (!SqlErrors.isMissingSavepoint(e)) {
            return SqlErrors.translateInTransaction(doing, e);
        }
        TransactionConflictException conflict = new TransactionConflictException(e);
        Sessions.rollback(connection, conflict);
        return conflict;
    }

    @Override
    public void undoAll() {
        while (marks.size() > 1) {
            marks.pop();
        }
        undo();
    }

    @Override
    public void flush() {
        unit.flush();
        unit.requireWhole();
        requireWhole();
    }

    /** The last mark is of no use any more, and releasing it shows that its transaction is still there. The first is kept for {@link #undoAll}. */
    private void requireWhole() {
        if (marks.size() > 1) {
            try {
                connection.releaseSavepoint(marks.pop());
            } catch (SQLException e) {
                throw lost("release a savepoint", e);
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
