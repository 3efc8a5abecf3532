package dev.postrider.jdbc.outbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A unit of work that handles a message. The messages that are sent through it name the handled message as their cause. */
public final class CausedUnitOfWork implements UnitOfWork {

    private final UnitOfWork target;
    private final Message cause;

    public CausedUnitOfWork(UnitOfWork target, Message cause) {
        this.target = target;
        this.cause = cause;
    }

    /** The unit of work behind this one, for code that passes messages on unchanged. */
    UnitOfWork target() {
        return target;
    }

    @Override
    public Connection connection() {
        return target.connection();
    }

    @Override
    public void stage(Message message) {
        target.stage(caused(message));
    }

    @Override
    public void stage(Collection<Message> messages) {
        target.stage(caused(messages));
    }

    @Override
    public List<Enqueued> staged() {
        return target.staged();
    }

    @Override
    public Outbox outbox() {
        Outbox outbox = target.outbox();
        return new Outbox() {
            @Override
            public Enqueued enqueue(Message message) {
                return outbox.enqueue(caused(message));
            }

            @Override
            public List<Enqueued> enqueueAll(Collection<Message> messages) {
                return outbox.enqueueAll(caused(messages));
            }

            @Override
            public Cancellation cancel(MessageId id) {
                return outbox.cancel(id);
            }

            @Override
            public Cancellation cancel(TopicName topic, @Nullable String tenant, String idempotencyKey) {
                return outbox.cancel(topic, tenant, idempotencyKey);
            }
        };
    }

    private List<Message> caused(Collection<Message> messages) {
        return tracing().traced(JdbcOutbox.batch(messages)).stream()
                .map(message -> message.causedBy(cause))
                .toList();
    }

    private Message caused(Message message) {
        if (message == null) {
            throw new InvalidMessageException("message", "is missing");
        }
        return tracing().traced(message).causedBy(cause);
    }

    /** Its trace context, which is that of the handler, comes before that of the handled message. */
    private SafeTracing tracing() {
        return JdbcUnitOfWork.of(target).tracing();
    }
}
