package dev.postrider.outbox;

/**
 * The code to run in one transaction, with a result.
 *
 * @param <T> the type of the result
 * @param <X> the checked exception that the code may throw
 */
@FunctionalInterface
public interface Work<T, X extends Exception> {

    /** Runs the code. An exception rolls back the transaction. */
    T run(UnitOfWork work) throws X;
}
