package dev.postrider.idempotency;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.Transactions;
import dev.postrider.message.DeterministicKey;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The {@link CommandTransaction} that the work of a command receives. It adds the reference of the command to the
 * messages as their cause.
 */
final class JoinedCommandTransaction implements CommandTransaction {

    private final UnitOfWork unit;
    private final CommandRecord row;
    private final Transactions transactions;

    JoinedCommandTransaction(UnitOfWork unit, CommandRecord row, Transactions transactions) {
        this.unit = unit;
        this.row = row;
        this.transactions = transactions;
    }

    @Override
    public boolean isConflict(Throwable failure) {
        return transactions.isConflict(failure);
    }

    @Override
    public UUID reference() {
        return row.reference();
    }

    @Override
    public int attempt() {
        return row.attempts();
    }

    @Override
    public UUID downstreamKey(String step) {
        return DeterministicKey.nameBased(row.reference(), step);
    }

    @Override
    public Connection connection() {
        return unit.connection();
    }

    @Override
    public void stage(Message message) {
        unit.stage(caused(message));
    }

    @Override
    public void stage(Collection<Message> messages) {
        unit.stage(caused(messages));
    }

    @Override
    public List<Enqueued> staged() {
        return unit.staged();
    }

    @Override
    public Outbox outbox() {
        Outbox outbox = unit.outbox();
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
        List<Message> caused = new ArrayList<>(messages.size());
        messages.forEach(message -> caused.add(caused(message)));
        return caused;
    }

    private Message caused(Message message) {
        if (message == null) {
            throw new InvalidMessageException("message", "is missing");
        }
        return message.causedBy(row.reference());
    }
}
