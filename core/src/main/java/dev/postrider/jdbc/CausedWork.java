package dev.postrider.jdbc;

import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;

/** A unit of work whose messages follow from another one: what they do not say of their origin is taken from there. */
final class CausedWork implements UnitOfWork {

    private final UnitOfWork work;
    private final Message cause;

    CausedWork(UnitOfWork work, Message cause) {
        this.work = work;
        this.cause = cause;
    }

    @Override
    public Connection connection() {
        return work.connection();
    }

    @Override
    public void stage(Message message) {
        work.stage(caused(message));
    }

    @Override
    public void stage(Collection<Message> messages) {
        work.stage(messages.stream().map(this::caused).toList());
    }

    @Override
    public Outbox outbox() {
        Outbox outbox = work.outbox();
        return new Outbox() {
            @Override
            public Enqueued enqueue(Message message) {
                return outbox.enqueue(caused(message));
            }

            @Override
            public List<Enqueued> enqueueAll(Collection<Message> messages) {
                return outbox.enqueueAll(
                        messages.stream().map(CausedWork.this::caused).toList());
            }
        };
    }

    private Message caused(Message message) {
        String correlation = cause.correlationId() != null
                ? cause.correlationId()
                : cause.id().toString();
        return new Message(
                message.id(),
                message.topic(),
                message.type(),
                message.tenant(),
                message.key(),
                message.idempotencyKey(),
                message.payload(),
                message.headers(),
                message.correlationId() != null ? message.correlationId() : correlation,
                message.causationId() != null
                        ? message.causationId()
                        : cause.id().toString(),
                message.trace() != null ? message.trace() : cause.trace(),
                message.occurredAt(),
                message.source(),
                message.subject(),
                message.deliverAt());
    }
}
