package dev.postrider.idempotency;

import java.sql.Connection;

/**
 * Runs commands once per (tenant, caller, operation, key). Whoever comes first does the work; everyone who comes later with the
 * same request gets its result. Thread-safe.
 */
public interface Commands {

    /**
     * Runs the work in a transaction of its own that commits the result together with what the work wrote and staged. The key is
     * claimed before that, in a short transaction, so that whoever comes meanwhile learns at once that it is in progress. An owner
     * that was taken for dead cannot commit: its work is rolled back with the result it could not write.
     *
     * <p>The transaction takes its connection from the pool when the work first asks for it, by {@code connection()}, {@code stage}
     * or {@code outbox()}. Work that takes connections of its own should not ask for it before: it would hold two.
     *
     * @throws X what the work threw; it was rolled back, and the same key may be tried again
     * @throws dev.postrider.error.StoreUnavailableException when the key could not be claimed, so that nothing has run
     */
    <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X;

    /**
     * Runs the work in the transaction of this connection, which the caller commits: key, result and work stand or fall together.
     * Whoever comes with the same key before that commit waits for it, up to {@link Command.Options#joinWait()}.
     *
     * @throws dev.postrider.error.UnusableConnectionException when the connection is in no transaction of this database
     */
    <R, X extends Exception> CommandResult<R> join(Connection connection, Command<R> command, CommandWork<R, X> work)
            throws X;

    /**
     * Runs work whose effect is elsewhere, under a lease that is kept up while it runs. Such an effect cannot be rolled back: if the
     * work throws, or the process dies, after {@link LeasedCommand#externalEffectStarted()}, the outcome is uncertain until a probe
     * or an operator says, and no retry runs the work.
     *
     * @throws X what the work threw
     */
    <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X;
}
