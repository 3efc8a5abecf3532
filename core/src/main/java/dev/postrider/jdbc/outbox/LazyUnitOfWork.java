package dev.postrider.jdbc.outbox;

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
 * A unit of work that begins its transaction on first use. User code that does not use it can open its own connection without
 * occupying two connections of the pool. Not thread-safe: one thread uses it.
 */
final class LazyUnitOfWork implements UnitOfWork, AutoCloseable {

    private final Supplier<OwnTransaction> begin;
    private final Function<Connection, JdbcUnitOfWork> units;
    private @Nullable OwnTransaction transaction;
    private @Nullable JdbcUnitOfWork unit;
    private @Nullable PostriderException failure;
    private boolean ended;

    /**
     * @param begin opens a connection and begins a transaction
     * @param units creates the unit of work of that connection
     */
    LazyUnitOfWork(Supplier<OwnTransaction> begin, Function<Connection, JdbcUnitOfWork> units) {
        this.begin = begin;
        this.units = units;
    }

    /**
     * Begins the transaction on the first call. If that fails, every later call throws the same exception: user code that swallows
     * the exception cannot commit without the refused work.
     */
    private JdbcUnitOfWork unit() {
        if (ended) {
            throw new IllegalStateException("The unit of work has ended: use it only within the call that received it");
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

    /** Returns the staged messages, also after the unit of work has ended. */
    @Override
    public List<Enqueued> staged() {
        return unit == null ? List.of() : unit.staged();
    }

    @Override
    public Outbox outbox() {
        return unit().outbox();
    }

    /** Writes the staged messages, runs the last step, and commits. */
    void commit(Consumer<UnitOfWork> last) {
        JdbcUnitOfWork own = unit();
        own.flush();
        last.accept(own);
        if (transaction != null) {
            transaction.commit(own);
        }
    }

    /** Called when the database has confirmed the commit. */
    void committed() {
        if (unit != null) {
            unit.committed();
        }
    }

    void rollback(Throwable reason) {
        if (unit != null) {
            unit.abandoned();
        }
        if (transaction != null && unit != null) {
            transaction.rollback(reason, unit);
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
