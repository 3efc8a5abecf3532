package dev.postrider.jdbc;

import dev.postrider.error.PostriderException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.Staging;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A unit of work on one connection. Remembers a failed write, so that swallowing the exception does not commit half of it. */
final class JdbcUnitOfWork implements UnitOfWork {

    private final Connection connection;
    private final JdbcOutbox outboxes;
    private final Outbox direct;
    private final Staging staging;
    private @Nullable PostriderException failure;

    JdbcUnitOfWork(Connection connection, JdbcOutbox outboxes, int stagedLimit) {
        this.connection = connection;
        this.outboxes = outboxes;
        this.direct = outboxes.on(connection);
        this.staging = new Staging(stagedLimit);
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void stage(Message message) {
        stage(List.of(message));
    }

    /** Checks here what the commit would refuse, so that the error surfaces where the message was made. */
    @Override
    public void stage(Collection<Message> messages) {
        List<Message> batch = new ArrayList<>(messages);
        try {
            for (Message message : batch) {
                outboxes.checked(connection, message);
            }
        } catch (SQLException e) {
            throw remember(SqlErrors.translateInTransaction("stage the message", e));
        }
        staging.addAll(batch);
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
                    return direct.enqueueAll(messages);
                } catch (PostriderException e) {
                    throw remember(e);
                }
            }
        };
    }

    /** The last thing before commit. */
    void flush() {
        if (failure != null) {
            throw failure;
        }
        staging.flush(direct);
    }

    private PostriderException remember(PostriderException e) {
        failure = e;
        return e;
    }
}
