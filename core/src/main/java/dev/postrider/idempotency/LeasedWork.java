package dev.postrider.idempotency;

import org.jspecify.annotations.Nullable;

/** The work of a leased command, outside of a transaction. */
@FunctionalInterface
public interface LeasedWork<R, X extends Exception> {

    /**
     * Runs the work.
     *
     * @return the result that every retry gets
     * @throws CommandRejectedException to reject the command for this call and every retry
     * @throws X any other failure: a retry runs the work again, unless {@link LeasedCommand#isEffectPossible()}; then
     *     the command is uncertain
     */
    @Nullable
    R run(LeasedCommand lease) throws X;
}
