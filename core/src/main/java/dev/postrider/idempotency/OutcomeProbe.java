package dev.postrider.idempotency;

import dev.postrider.message.DeterministicKey;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Asks another system for the outcome of an uncertain command. Each probe runs on a thread of its own; a node runs one
 * probe per command at a time. A caller waits two seconds for the probe, or up to {@link
 * Command.Options#waitForResult()} if that is longer. Then the command counts as in progress, and the finding is
 * written when the probe returns. A probe should still have its own timeout. Implementations are thread-safe.
 */
@FunctionalInterface
public interface OutcomeProbe<R> {

    /** The kinds of findings. */
    enum Kind {
        /** The effect happened. The finding carries the result. */
        HAPPENED,
        /** The effect did not happen and will not happen. The command may run again. */
        DID_NOT_HAPPEN,
        /** The other system cannot tell yet. */
        UNKNOWN
    }

    /**
     * The command that the probe asks about.
     *
     * @param reference the value of {@link LeasedCommand#reference()}; the other system has it only if the work sent it
     */
    record Question(UUID reference) {

        /**
         * The key that {@link LeasedCommand#downstreamKey} returned to the work for this step, and that the work sent
         * to the other system.
         */
        public UUID downstreamKey(String step) {
            return DeterministicKey.nameBased(reference, step);
        }
    }

    /**
     * The finding of a probe.
     *
     * @param result the result of a command whose effect happened
     */
    record Finding<R>(Kind kind, @Nullable R result) {

        /** The effect happened. The caller and every retry get this result. */
        public static <R> Finding<R> happened(@Nullable R result) {
            return new Finding<>(Kind.HAPPENED, result);
        }

        /**
         * The effect did not happen and will not happen; the caller runs the work. Return it only if a first request
         * that still arrives later does no harm, because the other system refuses it or recognises its key.
         */
        public static <R> Finding<R> didNotHappen() {
            return new Finding<>(Kind.DID_NOT_HAPPEN, null);
        }

        /** The outcome is not known yet. The command stays uncertain, and the next caller runs the probe again. */
        public static <R> Finding<R> unknown() {
            return new Finding<>(Kind.UNKNOWN, null);
        }
    }

    /** Returns the outcome of the command. An exception counts as {@link Kind#UNKNOWN}. */
    Finding<R> ask(Question question);
}
