package dev.postrider.outbox;

import dev.postrider.message.Message;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;

/**
 * An open transaction, together with the messages that are written at its end. Use it from one thread, and only
 * within the call that received it. Only {@link #staged} may be called later.
 */
public interface UnitOfWork {

    /**
     * Returns the connection of the transaction. The unit of work commits it, rolls it back and returns it to the
     * pool. Therefore {@code commit}, {@code rollback} without a savepoint, {@code setAutoCommit(true)},
     * {@code close} and {@code abort} throw {@link dev.postrider.error.UnusableConnectionException}. So do SQL
     * statements that end the transaction, and DDL on MySQL, MariaDB and H2, which commit before it. After such a
     * refusal the unit of work does not commit, except after {@code close}. A statement whose text could hide an end,
     * as a text of several statements or a procedure can, is executed, and the transaction is proved at the server
     * after it. If the transaction was ended, the exception says so, and every later statement and the commit fail
     * with it. {@code unwrap} returns the driver's object.
     */
    Connection connection();

    /**
     * Stages a message. All staged messages are written just before the commit, in one statement and in this order.
     * At that time every row that the transaction changes is locked. So if two units of work change the same rows,
     * their messages have the same order as their changes.
     *
     * <p>If a message is rejected, the commit throws too. The transaction cannot commit without the message by
     * mistake.
     */
    void stage(Message message);

    /** Stages all messages, or none of them if one is not valid. The unit of work does not commit then. */
    void stage(Collection<Message> messages);

    /**
     * Returns the results of the staged messages, in their order. The list is empty until the messages are written
     * just before the commit. It may be called after the commit, to find duplicates. The other methods may not be
     * called then.
     */
    List<Enqueued> staged();

    /**
     * Returns an outbox that writes immediately in this transaction. Use it to know at once whether a key is a
     * duplicate.
     */
    Outbox outbox();
}
