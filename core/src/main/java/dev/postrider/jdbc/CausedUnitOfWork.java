package dev.postrider.jdbc;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** A unit of work that handles a message: what it sends is a consequence of that one, and says so. */
final class CausedUnitOfWork implements UnitOfWork {

    private final UnitOfWork target;
    private final Message cause;

    CausedUnitOfWork(UnitOfWork target, Message cause) {
        this.target = target;
        this.cause = cause;
    }

    /** What it adds to, for whoever passes messages on as they are. */
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
        };
    }

    private List<Message> caused(Collection<Message> messages) {
        List<Message> caused = new ArrayList<>(messages.size());
        for (Message message : messages) {
            caused.add(caused(message));
        }
        return caused;
    }

    private Message caused(Message message) {
        if (message == null) {
            throw new InvalidMessageException("message", "is missing");
        }
        return message.causedBy(cause);
    }
}
