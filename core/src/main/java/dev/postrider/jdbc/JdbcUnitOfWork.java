package dev.postrider.jdbc;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.PostriderException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.Staging;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import dev.postrider.store.HandOver;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A unit of work on one connection. Remembers a failed write, so that swallowing the exception does not commit half of it. */
final class JdbcUnitOfWork implements UnitOfWork {

    private static final Logger log = LoggerFactory.getLogger(JdbcUnitOfWork.class);

    private final GuardedConnection connection;
    private final JdbcOutbox outboxes;
    private final Outbox direct;
    private final Staging staging;
    private final int stagedLimit;
    private final HandOver handOver;
    private final List<Message> written = new ArrayList<>();
    private final List<Enqueued> staged = new ArrayList<>();
    private final List<Runnable> afterCommit = new ArrayList<>();
    private List<Claim> born = List.of();
    private HandOver.Reservation reservation = HandOver.Reservation.NONE;
    private @Nullable PostriderException failure;

    JdbcUnitOfWork(Connection connection, JdbcOutbox outboxes, int stagedLimit, HandOver handOver) {
        this.connection = new GuardedConnection(connection);
        this.outboxes = outboxes;
        this.direct = outboxes.on(this.connection);
        this.staging = new Staging(stagedLimit);
        this.stagedLimit = stagedLimit;
        this.handOver = handOver;
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void stage(Message message) {
        stage(Collections.singletonList(message));
    }

    /** Checks here what the commit would refuse, so that the error surfaces where the message was made. */
    @Override
    public void stage(Collection<Message> messages) {
        List<Message> batch = new ArrayList<>(messages);
        try {
            JdbcOutbox.refuseReserved(batch);
            staging.addAll(checked(batch));
        } catch (PostriderException e) {
            throw remember(e);
        }
    }

    private List<Message> checked(List<Message> batch) {
        try {
            for (Message message : batch) {
                if (message == null) {
                    throw new InvalidMessageException("message", "is missing");
                }
                outboxes.checked(connection, message);
            }
            return batch;
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction("stage the message", e);
        }
    }

    @Override
    public Outbox outbox() {
        return new Outbox() {
            @Override
            public Enqueued enqueue(Message message) {
                return enqueueAll(List.of(message)).get(0);
            }

            @Override
            public List<Enqueued> enqueueAll(Collection<Message> messages) {
                try {
                    List<Message> batch = List.copyOf(messages);
                    List<Enqueued> answers = direct.enqueueAll(batch);
                    addWritten(batch, answers);
                    return answers;
                } catch (PostriderException e) {
                    throw remember(e);
                }
            }
        };
    }

    /** The unit of work of ours that a handler was given. */
    static JdbcUnitOfWork of(UnitOfWork work) {
        UnitOfWork own = work instanceof CausedUnitOfWork caused ? caused.target() : work;
        if (own instanceof JdbcUnitOfWork unit) {
            return unit;
        }
        throw new IllegalArgumentException("not a unit of work of this database: " + work);
    }

    /**
     * Adds messages of the inbox's own. As long as they fit they are staged, so that this node can take them over; more than that are
     * written at once.
     */
    void stageReceived(List<Message> messages) throws SQLException {
        if (staging.size() + messages.size() > stagedLimit) {
            addWritten(messages, outboxes.write(connection, messages, null));
            return;
        }
        for (Message message : messages) {
            outboxes.checked(connection, message);
        }
        staging.addAll(messages);
    }

    /** Runs this when the commit was answered, and never if it was not. */
    void afterCommit(Runnable report) {
        afterCommit.add(report);
    }

    /** The last thing before commit. */
    void flush() {
        if (failure != null) {
            throw failure;
        }
        List<Enqueued> answers = staging.flush(new Outbox() {
            @Override
            public Enqueued enqueue(Message message) {
                return enqueueAll(List.of(message)).get(0);
            }

            @Override
            public List<Enqueued> enqueueAll(Collection<Message> messages) {
                return writeStaged(List.copyOf(messages));
            }
        });
        staged.addAll(answers);
    }

    @Override
    public List<Enqueued> staged() {
        return List.copyOf(staged);
    }

    /** Those for which this node has room are inserted under its lease. */
    private List<Enqueued> writeStaged(List<Message> messages) {
        reservation = handOver.reserve(messages);
        Birth birth = reservation.messages().isEmpty() ? null : new Birth(reservation);
        List<Enqueued> answers = outboxes.write(connection, messages, birth);
        addWritten(messages, answers);
        if (birth != null) {
            born = birth.claims(messages);
            written.removeIf(message -> birth.isBorn(message.id()));
        }
        return answers;
    }

    private void addWritten(List<Message> messages, List<Enqueued> answers) {
        for (int i = 0; i < answers.size(); i++) {
            if (!answers.get(i).isDuplicate()) {
                written.add(messages.get(i));
            }
        }
    }

    /** @throws TransactionConflictException when a statement of ours had to roll the transaction back, and the work went on */
    void requireWhole() {
        if (connection.wasRolledBack()) {
            throw new TransactionConflictException(
                    new SQLException("The transaction was rolled back, and the work went on", "40001"));
        }
    }

    /** The commit was answered: whatever happens here does not undo it. */
    void committed() {
        try {
            reservation.committed(born);
            if (!written.isEmpty()) {
                handOver.committed(written);
            }
            afterCommit.forEach(Runnable::run);
        } catch (RuntimeException | Error e) {
            log.error(
                    "Messages were committed, but the dispatcher could not be told; they are found by its next poll",
                    e);
        }
    }

    /** Rolled back, or nobody knows. */
    void abandoned() {
        reservation.abandoned();
    }

    private PostriderException remember(PostriderException e) {
        failure = e;
        return e;
    }
}
