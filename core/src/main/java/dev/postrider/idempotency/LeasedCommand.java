package dev.postrider.idempotency;

import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A command at work under a lease. Use it within the call that it was given to; {@link #isLost()} from any thread. */
public interface LeasedCommand {

    UUID reference();

    /** Beginning with 1. */
    int attempt();

    /** A key for a call to another system: the same for this step of this command in every attempt. */
    UUID downstreamKey(String step);

    /**
     * Says, durably and before it is true, that from here on something may have happened elsewhere. From here on the work is not
     * run a second time: if it throws, or if this process dies, the command is uncertain until a probe or an operator says what
     * became of it. Only {@link #externalEffectDidNotHappen()} takes that back.
     *
     * @throws CommandLostException when another owner has taken over; do not begin
     * @throws dev.postrider.error.StoreException when it could not be written; do not begin
     */
    void externalEffectStarted();

    /**
     * Says that nothing has happened elsewhere since the last {@link #externalEffectStarted()}, for certain: the connection was
     * refused, or the other system answered that it did nothing. If the work throws now, a retry runs it again. Call it also when
     * everything that did happen is kept as a {@linkplain #step step}. A timeout and a lost answer are no proof.
     */
    void externalEffectDidNotHappen();

    /**
     * Whether something may have happened elsewhere: if the work throws now, the command is uncertain and no retry runs it. False
     * for commands with {@link Command.OnLostLease#TAKE_OVER}, which may be repeated.
     */
    boolean isEffectPossible();

    /**
     * Does a step of the command once: its result is kept, and an attempt that follows a crash gets it without running the step.
     *
     * @throws CommandLostException when another owner has taken over
     */
    <T> @Nullable T step(String name, ResultCodec<T> codec, Callable<T> step) throws Exception;

    /** Whether another owner has taken over, or may have: the lease could not be kept up. What is done now may be done twice. */
    boolean isLost();
}
