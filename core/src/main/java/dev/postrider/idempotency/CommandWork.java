package dev.postrider.idempotency;

import org.jspecify.annotations.Nullable;

/** The work of a command inside its transaction. */
@FunctionalInterface
public interface CommandWork<R, X extends Exception> {

    /**
     * Runs the work.
     *
     * @return the result that every retry gets
     * @throws CommandRejectedException to reject the command for this call and every retry: the transaction is rolled
     *     back and the rejection is stored
     * @throws X any other failure: the transaction is rolled back, and a retry runs the work again
     */
    @Nullable
    R run(CommandTransaction transaction) throws X;
}
