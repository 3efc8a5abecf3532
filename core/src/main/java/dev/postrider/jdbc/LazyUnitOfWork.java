package dev.postrider.jdbc;

import dev.postrider.error.PostriderException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A unit of work whose transaction begins when it is first needed. User code that does not need it can take connections of its own
 * without holding two of the pool. Used by one thread.
 */
final class LazyUnitOfWork implements UnitOfWork, AutoCloseable {

    private final Supplier<OwnTransaction> begin;
    private final Function<Connection, JdbcUnitOfWork> units;
    private @Nullable OwnTransaction transaction;
    private @Nullable JdbcUnitOfWork unit;
    private @Nullable PostriderException failure;
    private boolean ended;

    /**
     * @param begin takes a connection and begins a transaction
     * @param units makes the unit of work of that connection
     */
    LazyUnitOfWork(Supplier<OwnTransaction> begin, Function<Connection, JdbcUnitOfWork> units) {
        this.begin = begin;
        this.units = units;
    }

    /** Remembers that there was no connection, so that swallowing the exception does not commit without what was refused. */
    private JdbcUnitOfWork unit() {
        if (ended) {
            throw new IllegalStateException("The unit of work has ended: use it within the call that it was given to");
        }
        if (failure != null) {
            throw failure;
        }
        if (unit == null) {
            try {
                transaction = begin.get();
            } catch (PostriderException e) {
                failure = e;
                throw e;
            }
            unit = units.apply(transaction.connection());
        }
        return unit;
    }

    @Override
    public Connection connection() {
        return unit().connection();
    }

    @Override
    public void stage(Message message) {
        unit().stage(message);
    }

    @Override
    public void stage(Collection<Message> messages) {
        unit().stage(messages);
    }

    /** Also when it has ended. */
    @Override
    public List<Enqueued> staged() {
        return unit == null ? List.of() : unit.staged();
    }

    @Override
    public Outbox outbox() {
        return unit().outbox();
    }

    /** Writes what was staged, does the last thing, and commits. */
    void commit(Consumer<UnitOfWork> last) {
        JdbcUnitOfWork own = unit();
        own.flush();
        last.accept(own);
        if (transaction != null) {
            transaction.commit(own);
        }
    }

    /** The commit was answered. */
    void committed() {
        if (unit != null) {
            unit.committed();
        }
    }

    void rollback(Throwable reason) {
        if (unit != null) {
            unit.abandoned();
        }
        if (transaction != null) {
            transaction.rollback(reason);
        }
    }

    @Override
    public void close() {
        ended = true;
        if (transaction != null) {
            transaction.close();
        }
    }
}
