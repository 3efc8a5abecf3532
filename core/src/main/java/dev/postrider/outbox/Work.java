package dev.postrider.outbox;

/**
 * What to do in one transaction.
 *
 * @param <X> what it may throw besides unchecked exceptions
 */
@FunctionalInterface
public interface Work<T, X extends Exception> {

    T run(UnitOfWork work) throws X;
}
