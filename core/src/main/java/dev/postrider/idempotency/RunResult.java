package dev.postrider.idempotency;

import dev.postrider.internal.store.CommandRecord;
import java.util.Optional;

/**
 * The result of a run.
 *
 * @param row the stored row, for other callers that wait for it; empty when it is not certain that the database has it
 */
record RunResult<R>(CommandResult<R> result, Optional<CommandRecord> row) {

    /** A mode of execution for a claimed command. */
    @FunctionalInterface
    interface Mode<R, X extends Exception> {
        RunResult<R> run(CommandRequest<R> request, CommandClaimResult.Claimed claimed) throws X;
    }
}
