package dev.postrider.idempotency;

import org.jspecify.annotations.Nullable;

/** What a command does outside of any transaction. */
@FunctionalInterface
public interface LeasedWork<R, X extends Exception> {

    /**
     * @return the result that every retry gets
     * @throws CommandRejectedException when the answer is no, and will be no for every retry
     * @throws X anything else: a retry runs the work again, unless {@link LeasedCommand#isEffectPossible()}: then the command is
     *     uncertain
     */
    @Nullable
    R run(LeasedCommand lease) throws X;
}
