package dev.postrider.outbox;

import dev.postrider.message.Message;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;

/**
 * A transaction in progress, together with the messages to be written at its end. Use it from one thread, within the call that
 * it was given to; only {@link #staged} is for afterwards.
 */
public interface UnitOfWork {

    /**
     * The transaction's connection. The unit of work commits it, rolls it back and gives it back: {@code commit}, {@code rollback}
     * without a savepoint, {@code setAutoCommit(true)}, {@code close} and {@code abort} throw
     * {@link dev.postrider.error.UnusableConnectionException}. The same as SQL text is not seen, and not allowed either. {@code unwrap}
     * leads to the driver's connection.
     */
    Connection connection();

    /**
     * Adds a message, to be written just before commit together with all others, in one statement and in this order. By then
     * every row the transaction changes is locked, so of two units of work that change the same rows the messages come in the
     * order in which the changes do. A message that is refused is refused again at commit, so that nobody commits without it by mistake.
     */
    void stage(Message message);

    /** Adds all of them, or none if one is not acceptable; then the unit of work does not commit. */
    void stage(Collection<Message> messages);

    /**
     * What became of the staged messages, in their order, once they were written just before the commit: empty before that. Asked after
     * the call that committed, it tells which of them were duplicates; the other methods may not be used any more then.
     */
    List<Enqueued> staged();

    /** Writes at once instead, to learn now whether a key is a duplicate. */
    Outbox outbox();
}
