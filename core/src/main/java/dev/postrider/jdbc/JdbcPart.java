package dev.postrider.jdbc;

import dev.postrider.error.UnusableConnectionException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Outbox;
import dev.postrider.store.HandOver;
import dev.postrider.store.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;

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
            throw SqlErrors.translateInTransaction("return to the savepoint", e);
        }
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
    public Outbox outbox() {
        return unit.outbox();
    }
}
