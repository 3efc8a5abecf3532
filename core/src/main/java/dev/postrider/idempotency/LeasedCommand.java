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
     * Says, durably and before it is true, that from here on something may have happened elsewhere. If this process dies later, the
     * command is not simply run again.
     *
     * @throws CommandLostException when another owner has taken over; do not begin
     */
    void externalEffectStarted();

    /**
     * Does a step of the command once: its result is kept, and an attempt that follows a crash gets it without running the step.
     *
     * @throws CommandLostException when another owner has taken over
     */
    <T> @Nullable T step(String name, ResultCodec<T> codec, Callable<T> step) throws Exception;

    /** Whether another owner has taken over, or may have: the lease could not be kept up. What is done now may be done twice. */
    boolean isLost();
}
