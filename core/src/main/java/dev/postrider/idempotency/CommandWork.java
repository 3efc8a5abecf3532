package dev.postrider.idempotency;

import org.jspecify.annotations.Nullable;

/** What a command does in its transaction. */
@FunctionalInterface
public interface CommandWork<R, X extends Exception> {

    /**
     * @return the result that every retry gets
     * @throws CommandRejectedException when the answer is no, and will be no for every retry: the transaction is rolled back and the
     *     rejection is kept
     * @throws X anything else: the transaction is rolled back, and a retry runs the work again
     */
    @Nullable
    R run(CommandTransaction transaction) throws X;
}
