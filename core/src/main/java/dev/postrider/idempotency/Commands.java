package dev.postrider.idempotency;

import java.sql.Connection;

/**
 * Runs commands once per (tenant, caller, operation, key). The first caller runs the work. Later callers with the same
 * request get its result. Thread-safe.
 */
public interface Commands {

    /**
     * Runs the work in a transaction of its own. This transaction commits the result together with the writes and
     * staged messages of the work. Before it starts, a short transaction claims the key, so that concurrent callers see
     * at once that the command is in progress. An owner whose command was taken over cannot commit: its work is rolled
     * back together with its result.
     *
     * <p>The transaction takes its connection from the pool when the work first calls {@code connection()}, {@code
     * stage} or {@code outbox()}. Work that uses connections of its own should call them as late as possible: otherwise
     * it occupies two connections.
     *
     * @throws X the exception of the work; the work is rolled back, and a retry with the same key can run
     * @throws dev.postrider.error.StoreUnavailableException when the key could not be claimed; the work did not run
     * @throws dev.postrider.error.TransactionConflictException when another transaction, such as an uncommitted
     *     {@linkplain #join joined} command, locked the row of the key for longer than a sixth of the node's lease, and
     *     the work did not run; or when the database aborted the work's transaction in favour of another. A retry with
     *     the same key can run
     */
    <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X;

    /**
     * Runs the work in the transaction of this connection, which the caller commits. Key, result and work are committed
     * or rolled back together. Another caller with the same key waits for this commit, up to {@link
     * Command.Options#joinWait()}.
     *
     * @throws dev.postrider.error.UnusableConnectionException when the connection has no transaction on this database
     */
    <R, X extends Exception> CommandResult<R> join(Connection connection, Command<R> command, CommandWork<R, X> work)
            throws X;

    /**
     * Runs work with an external effect, under a lease that is renewed while the work runs. An external effect cannot
     * be rolled back. If the work throws or the process dies after {@link LeasedCommand#externalEffectStarted()}, the
     * command is uncertain until a probe or an operator resolves it, and no retry runs the work.
     *
     * @throws X the exception of the work
     * @throws dev.postrider.error.TransactionConflictException as for {@link #run}, when the key could not be claimed
     */
    <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X;
}
