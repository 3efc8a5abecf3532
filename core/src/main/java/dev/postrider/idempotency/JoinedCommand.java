package dev.postrider.idempotency;

import dev.postrider.message.DeterministicKey;
import dev.postrider.message.Message;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.CommandRecord;
import java.sql.Connection;
import java.util.Collection;
import java.util.UUID;

/** What the work of a command sees of its transaction. */
final class JoinedCommand implements CommandTransaction {

    private final UnitOfWork unit;
    private final CommandRecord row;

    JoinedCommand(UnitOfWork unit, CommandRecord row) {
        this.unit = unit;
        this.row = row;
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
        unit.stage(message);
    }

    @Override
    public void stage(Collection<Message> messages) {
        unit.stage(messages);
    }

    @Override
    public Outbox outbox() {
        return unit.outbox();
    }
}
