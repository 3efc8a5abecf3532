package dev.postrider.idempotency;

import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A command that runs under a lease. Use it only during the call that received it. {@link #isLost()} may be called from
 * any thread.
 */
public interface LeasedCommand {

    UUID reference();

    /** The number of this attempt, starting with 1. */
    int attempt();

    /** A key for a call to another system. It is the same for this step of this command in every attempt. */
    UUID downstreamKey(String step);

    /**
     * Stores that the external effect may happen from now on. Call it before the external call. From now on the work
     * does not run a second time: if it throws, or if this process dies, the command is uncertain until a probe or an
     * operator resolves it. Only {@link #externalEffectDidNotHappen()} reverts this. With {@link
     * Command.OnLostLease#TAKE_OVER} the work may run again nevertheless.
     *
     * @throws CommandLostException when another owner took the command over; do not start the external effect
     * @throws dev.postrider.error.StoreException when the statement failed; do not start the external effect
     */
    void externalEffectStarted();

    /**
     * Declares that no external effect has happened since the last {@link #externalEffectStarted()}. The caller must be
     * certain: the connection was refused, or the other system responded that it did nothing. If the work throws after
     * this call, a retry runs it again. Call it also when every effect that happened is stored as the result of a
     * {@linkplain #step step}. A timeout or a lost response is no proof.
     */
    void externalEffectDidNotHappen();

    /**
     * Whether the external effect may have happened. If the work throws while this is true, the command is uncertain
     * and no retry runs it. Always false for commands with {@link Command.OnLostLease#TAKE_OVER}, which may be
     * repeated.
     */
    boolean isEffectPossible();

    /**
     * Runs a step of the command and stores its result. An attempt after a crash gets the stored result and does not
     * run the step again.
     *
     * @throws CommandLostException when another owner took the command over
     */
    <T> @Nullable T step(String name, ResultCodec<T> codec, Callable<T> step) throws Exception;

    /**
     * Whether another owner took the command over, or may have done so because the lease was not renewed in time. An
     * effect that happens now may happen twice.
     */
    boolean isLost();
}
