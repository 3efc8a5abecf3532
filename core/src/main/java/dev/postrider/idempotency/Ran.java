package dev.postrider.idempotency;

import dev.postrider.store.CommandRecord;
import java.util.Optional;

/**
 * What came of running a command.
 *
 * @param row for others who wait for the same; empty when it is not known to be in the database
 */
record Ran<R>(CommandResult<R> result, Optional<CommandRecord> row) {

    /** One of the ways to run a command that was claimed. */
    @FunctionalInterface
    interface Mode<R, X extends Exception> {
        Ran<R> run(Request<R> request, CommandRecord row) throws X;
    }
}
