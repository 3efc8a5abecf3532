package dev.postrider.jdbc.outbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.PostriderException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.jdbc.sql.GuardedConnection;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.TransactionProof;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A unit of work on one connection. It remembers a failed write: if the caller ignores the exception, the commit fails instead
 * of committing a part of the work. Used by one thread.
 */
public final class JdbcUnitOfWork implements UnitOfWork {

    private static final Logger log = LoggerFactory.getLogger(JdbcUnitOfWork.class);

    private final GuardedConnection connection;
    private final JdbcOutbox outboxes;
    private final Outbox direct;
    private final int stagedLimit;
    private final HandOver handOver;
    private final @Nullable MessageId handled;
    private final List<NewRow> toWrite = new ArrayList<>();
    private final List<Message> written = new ArrayList<>();
    private final List<Enqueued> staged = new ArrayList<>();
    private final List<Runnable> afterCommit = new ArrayList<>();
    private List<Claim> leased = List.of();
    private HandOver.Reservation reservation = HandOver.Reservation.NONE;
    private @Nullable PostriderException failure;
    private boolean ended;

    JdbcUnitOfWork(Connection connection, JdbcOutbox outboxes, int stagedLimit, HandOver handOver) {
        this(connection, outboxes, stagedLimit, handOver, null);
    }

    /** @param handled the id of the message that this unit of work removes; null for none */
    JdbcUnitOfWork(
            Connection connection,
            JdbcOutbox outboxes,
            int stagedLimit,
            HandOver handOver,
            @Nullable MessageId handled) {
        this.connection =
                GuardedConnection.of(connection, outboxes.connections().kind());
        this.outboxes = outboxes;
        this.direct = outboxes.on(this.connection);
        this.stagedLimit = stagedLimit;
        this.handOver = handOver;
        this.handled = handled;
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void stage(Message message) {
        stage(Collections.singletonList(message));
    }

    /** Runs the checks of the commit also here, so that the error appears where the message is made. */
    @Override
    public void stage(Collection<Message> messages) {
        requireOpen();
        try {
            List<Message> batch = JdbcOutbox.batch(messages);
            JdbcOutbox.refuseReserved(batch);
            refuseHandled(batch);
            requireWithinLimit(batch);
            toWrite.addAll(checked(batch));
        } catch (PostriderException e) {
            throw remember(e);
        }
    }

    /**
     * Refuses the id of the handled message. Whether its row is still there at that moment depends on the database and on the other
     * messages of the transaction.
     */
    private void refuseHandled(List<Message> batch) {
        for (Message message : batch) {
            if (message.id().equals(handled)) {
                throw new InvalidMessageException(
                        "id",
                        message.id() + " belongs to the message that is being handled: give each message a unique id,"
                                + " or let Postrider generate it");
            }
        }
    }

    private void requireOpen() {
        if (ended) {
            throw new UnusableConnectionException(
                    UnusableConnectionException.Problem.CLOSED, " (the unit of work has ended)", null);
        }
    }

    private boolean isWithinLimit(List<Message> batch) {
        return toWrite.size() + batch.size() <= stagedLimit;
    }

    private void requireWithinLimit(List<Message> batch) {
        if (!isWithinLimit(batch)) {
            throw new InvalidMessageException(
                    "unit of work",
                    "would stage more than " + stagedLimit + " messages: split it, or raise staged-limit");
        }
    }

    private List<NewRow> checked(List<Message> batch) {
        try {
            return outboxes.check().checked(connection, batch);
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction("stage the message", e);
        }
    }

    @Override
    public Outbox outbox() {
        return new Outbox() {
            @Override
            public Enqueued enqueue(Message message) {
                return enqueueAll(Collections.singletonList(message)).get(0);
            }

            @Override
            public List<Enqueued> enqueueAll(Collection<Message> messages) {
                requireOpen();
                try {
                    List<Message> batch = JdbcOutbox.batch(messages);
                    refuseHandled(batch);
                    List<Enqueued> answers = direct.enqueueAll(batch);
                    addWritten(batch, answers);
                    return answers;
                } catch (PostriderException e) {
                    throw remember(e);
                }
            }

            @Override
            public Cancellation cancel(MessageId id) {
                return cancelled(() -> direct.cancel(id));
            }

            @Override
            public Cancellation cancel(TopicName topic, @Nullable String tenant, String idempotencyKey) {
                return cancelled(() -> direct.cancel(topic, tenant, idempotencyKey));
            }
        };
    }

    private Cancellation cancelled(Supplier<Cancellation> cancel) {
        requireOpen();
        try {
            return cancel.get();
        } catch (PostriderException e) {
            throw remember(e);
        }
    }

    /** Returns the JDBC unit of work behind the one that a handler got. */
    public static JdbcUnitOfWork of(UnitOfWork work) {
        UnitOfWork own = work instanceof CausedUnitOfWork caused ? caused.target() : work;
        if (own instanceof JdbcUnitOfWork unit) {
            return unit;
        }
        throw new IllegalArgumentException("not a unit of work of this database: " + work);
    }

    /**
     * Adds messages for topics of the inbox. They are staged while they fit within the limit, which allows a local hand-over.
     * Otherwise they are written at once.
     */
    public void stageReceived(List<Message> messages) throws SQLException {
        if (isWithinLimit(messages)) {
            toWrite.addAll(outboxes.check().checked(connection, messages));
        } else {
            addWritten(messages, outboxes.write(connection, messages));
        }
    }

    SafeTracing tracing() {
        return outboxes.check().tracing();
    }

    /** Runs the report after a confirmed commit only. */
    public void afterCommit(Runnable report) {
        afterCommit.add(report);
    }

    /** Writes the staged messages: the last step before the commit. */
    public void flush() {
        flush(null);
    }

    /**
     * Writes the staged messages, and commits in the same request if that is possible.
     *
     * @param insertAndCommit null for the messages alone
     * @return whether the transaction is committed
     */
    boolean flush(@Nullable InsertAndCommit insertAndCommit) {
        if (failure != null) {
            throw failure;
        }
        boolean committed = false;
        if (!toWrite.isEmpty()) {
            committed = writeStaged(insertAndCommit);
            toWrite.clear();
        }
        ended = true;
        return committed;
    }

    @Override
    public List<Enqueued> staged() {
        return List.copyOf(staged);
    }

    /**
     * Writes the staged messages. Those for which this node has a free slot are inserted under its lease.
     *
     * @return whether the transaction is committed
     */
    private boolean writeStaged(@Nullable InsertAndCommit insertAndCommit) {
        List<Message> messages = toWrite.stream().map(NewRow::message).toList();
        reservation = handOver.reserve(messages);
        LeasedInsert insert = reservation.messages().isEmpty() ? null : new LeasedInsert(reservation);
        List<Enqueued> committed =
                insertAndCommit != null && connection.isCertainlyGood() && insertAndCommit.suits(toWrite, insert)
                        ? outboxes.writeRowsAndCommit(connection, toWrite, insert, insertAndCommit)
                        : null;
        List<Enqueued> answers = committed == null ? outboxes.writeRows(connection, toWrite, insert) : committed;
        staged.addAll(answers);
        addWritten(messages, answers);
        if (insert != null) {
            leased = insert.claims(messages);
            written.removeIf(message -> insert.isInserted(message.id()));
        }
        return committed != null;
    }

    private void addWritten(List<Message> messages, List<Enqueued> answers) {
        for (int i = 0; i < answers.size(); i++) {
            if (!answers.get(i).isDuplicate()) {
                written.add(messages.get(i));
            }
        }
    }

    /**
     * Checks that the transaction still contains all of its work.
     *
     * @throws TransactionConflictException when Postrider rolled back the transaction after a conflict, and the work continued
     * @throws UnusableConnectionException when an error aborted the transaction, or the work tried to end it, and the work continued
     */
    public void requireIntact() {
        connection.requireNotEnded();
        if (connection.wasRolledBack()) {
            throw new TransactionConflictException(
                    new SQLException("The transaction was rolled back, and the work continued", "40001"));
        }
        try {
            connection.requireGood();
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction("commit the unit of work", e);
        }
    }

    /** Returns the reason why the original transaction no longer exists: the database rolled it back, or the work ended it. */
    public PostriderException lost(SQLException missing) {
        PostriderException ended = connection.proof().ended();
        if (ended == null && (connection.metConflict() || connection.wasRolledBack())) {
            return new TransactionConflictException(missing);
        }
        return ended == null ? connection.proof().end(missing) : ended;
    }

    /** Returns an error if the work is known to have ended the transaction. Runs a proof that is due. */
    @Nullable
    public PostriderException ended() {
        try {
            connection.requireProved();
        } catch (UnusableConnectionException | SQLException e) {
            log.debug("The transaction of a failed unit of work is ended, or it cannot be proved", e);
        }
        return connection.proof().ended();
    }

    boolean wasRolledBack() {
        return connection.wasRolledBack();
    }

    /** Sets what is done before each statement of user code that could end the transaction. */
    public void beforeUnclear(TransactionProof.Preparation preparation) {
        connection.proof().prepare(preparation);
    }

    /** Called after a confirmed commit. Throws nothing, because a failure here does not undo the commit. */
    public void committed() {
        try {
            reservation.committed(leased);
            if (!written.isEmpty()) {
                handOver.committed(written);
            }
            afterCommit.forEach(Runnable::run);
        } catch (RuntimeException | Error e) {
            log.error("Messages were committed, but the dispatcher was not notified; its next poll finds them", e);
        }
    }

    /** Called after a rollback, or when the result of the commit is unknown. */
    public void abandoned() {
        ended = true;
        reservation.abandoned();
    }

    private PostriderException remember(PostriderException e) {
        failure = e;
        return e;
    }
}
