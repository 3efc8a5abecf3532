package dev.postrider.jdbc.inbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.PostriderException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.inbox.Accepted;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.InboxWork;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.internal.store.HandOver;
import dev.postrider.jdbc.outbox.CausedUnitOfWork;
import dev.postrider.jdbc.outbox.JdbcTransactions;
import dev.postrider.jdbc.outbox.JdbcUnitOfWork;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.outbox.Work;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The inbox of one consumer over JDBC. Thread-safe. */
public final class JdbcInbox implements Inbox {

    /** The most runs of a transaction that ends in conflicts. After a lock timeout it does not run again: it would wait as long again. */
    private static final int ATTEMPTS = 10;

    private final String consumer;
    private final JdbcTransactions transactions;
    private final FanOut fanOut;
    private final JdbcInboxStore marks;
    private final HandOver handOver;
    private final EventListener events;

    public JdbcInbox(
            String consumer, JdbcTransactions transactions, FanOut fanOut, HandOver handOver, EventListener events) {
        this.consumer = JdbcInboxStore.checkedConsumer(consumer);
        this.transactions = transactions;
        this.fanOut = fanOut;
        this.marks = fanOut.marks();
        this.handOver = handOver;
        this.events = events;
    }

    @Override
    public <X extends Exception> ProcessResult process(Message received, InboxWork<X> work) throws X {
        List<Message> batch = List.of(required(received));
        long start = System.nanoTime();
        return reported(untilDone(unit -> handle(unit, batch, work)), received, start);
    }

    private <X extends Exception> Accepted untilDone(Work<Accepted, X> work) throws X {
        for (int attempt = 1; ; attempt++) {
            try {
                return transactions.inTransaction(work, handOver);
            } catch (Throwable e) {
                if (!isConflict(e)) {
                    throw e;
                }
                if (attempt == ATTEMPTS || SqlErrors.isCausedByLockTimeout(e)) {
                    throw e instanceof TransactionConflictException lost ? lost : new TransactionConflictException(e);
                }
            }
        }
    }

    private <X extends Exception> Accepted handle(UnitOfWork unit, List<Message> batch, InboxWork<X> work) throws X {
        Accepted accepted = marks.mark(unit.connection(), consumer, batch);
        run(unit, accepted, work);
        return accepted;
    }

    private static <X extends Exception> void run(UnitOfWork unit, Accepted accepted, InboxWork<X> work) throws X {
        for (Message message : accepted.fresh()) {
            work.run(new CausedUnitOfWork(unit, message));
        }
    }

    @Override
    public <X extends Exception> ProcessResult process(Connection connection, Message received, InboxWork<X> work)
            throws X {
        List<Message> batch = List.of(required(received));
        long start = System.nanoTime();
        marks.checkUsable(connection);
        Savepoint before = marks.savepoint(connection);
        JdbcUnitOfWork unit = transactions.unitOfWork(connection);
        try {
            Accepted accepted = marks.mark(connection, consumer, batch);
            run(unit, accepted, work);
            unit.flush();
            unit.requireIntact();
            marks.release(connection, before, unit);
            return reported(accepted, received, start);
        } catch (Throwable e) {
            unit.abandoned();
            undo(connection, before, unit, e);
            throw e;
        }
    }

    /** Rolls back to the savepoint. If that fails, it rolls back the transaction: a mark must not be committed without its work. */
    private static void undo(Connection connection, Savepoint before, JdbcUnitOfWork unit, Throwable reason) {
        PostriderException lost = unit.ended();
        if (lost != null || reason instanceof TransactionConflictException) {
            Sessions.rollback(connection, reason);
        } else {
            lost = undone(connection, before, unit, reason);
        }
        if (lost != null && lost != reason) {
            lost.addSuppressed(reason);
            throw lost; // the earlier writes of the caller are rolled back or committed, too
        }
    }

    /** @return the reason why the transaction of the savepoint no longer exists; null if it is still there */
    private static @Nullable PostriderException undone(
            Connection connection, Savepoint before, JdbcUnitOfWork unit, Throwable reason) {
        try {
            connection.rollback(before);
            return null;
        } catch (SQLException e) {
            Sessions.rollback(connection, reason);
            if (SqlErrors.isMissingSavepoint(e)) {
                return unit.lost(e);
            }
            reason.addSuppressed(e);
            return null;
        }
    }

    @Override
    public Accepted accept(Connection connection, Collection<Message> received) {
        return marks.accept(connection, consumer, new ArrayList<>(received));
    }

    @Override
    public Accepted receive(Collection<Message> received) {
        List<Message> batch = JdbcInboxStore.checked(received);
        if (batch.isEmpty()) {
            return new Accepted(List.of(), List.of(), List.of(), List.of());
        }
        return untilDone(unit -> store(JdbcUnitOfWork.of(unit), batch));
    }

    private Accepted store(JdbcUnitOfWork unit, List<Message> batch) {
        try {
            return fanOut.receive(unit, consumer, batch);
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction("store received messages", e);
        }
    }

    private ProcessResult reported(Accepted accepted, Message received, long start) {
        marks.report(consumer, accepted);
        if (!accepted.duplicates().isEmpty()) {
            return new ProcessResult.AlreadyProcessed(
                    accepted.duplicates().get(0).firstSeenAt());
        }
        if (!accepted.collisions().isEmpty()) {
            return new ProcessResult.Collision(accepted.collisions().get(0).firstSeenAt());
        }
        if (!accepted.tooOld().isEmpty()) {
            return new ProcessResult.TooOld();
        }
        events.on(new Event.Processed(consumer, received, Duration.ofNanos(System.nanoTime() - start)));
        return new ProcessResult.Processed();
    }

    /** Also true if the work wrapped the conflict in its own exception. In both cases the work is rolled back. */
    private static boolean isConflict(Throwable failure) {
        return SqlErrors.isCausedByConflict(failure);
    }

    private static Message required(Message received) {
        if (received == null) {
            throw new InvalidMessageException("message", "is missing");
        }
        return JdbcInboxStore.withOwnId(received);
    }
}
