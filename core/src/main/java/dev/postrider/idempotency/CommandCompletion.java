package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.CommandOutcome;
import dev.postrider.internal.store.CommandOutcome.ResultKind;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import java.time.Duration;
import java.util.Optional;

/**
 * Writes the outcome of a command that was run, also when connections or responses of the database are lost.
 * Thread-safe.
 */
final class CommandCompletion {

    private static final int ERROR_LIMIT = 2000;

    /** A running command has at least one attempt, so this limit makes it uncertain at once. */
    private static final int NO_SECOND_ATTEMPT = 1;

    private final CommandStore store;
    private final ResultEncoding results;
    private final CommandReplies replies;
    private final EventListener events;

    CommandCompletion(CommandStore store, ResultEncoding results, CommandReplies replies, EventListener events) {
        this.store = store;
        this.results = results;
        this.replies = replies;
        this.events = events;
    }

    CommandStore store() {
        return store;
    }

    ResultEncoding results() {
        return results;
    }

    /** Reports a command whose outcome is stored. */
    <R> RunResult<R> ended(CommandRequest<R> request, CommandRecord row, ResultEncoding.Kept<R> kept, long nanos) {
        CommandOutcome outcome = kept.outcome();
        replies.took(request, nanos);
        events.on(new Event.CommandCompleted(
                operation(request), row.reference(), outcome.rejected(), Duration.ofNanos(nanos)));
        return new RunResult<>(result(row, kept), Optional.of(completed(row, outcome)));
    }

    static <R> CommandResult<R> result(CommandRecord row, ResultEncoding.Kept<R> kept) {
        String reason = kept.reason();
        return reason != null
                ? new CommandResult.Rejected<>(row.reference(), reason, kept.value(), false)
                : new CommandResult.Completed<>(row.reference(), kept.value(), false);
    }

    private static CommandRecord completed(CommandRecord row, CommandOutcome outcome) {
        String reason = outcome.reason();
        return new CommandRecord(
                row.owner(),
                row.reference(),
                CommandRecord.State.COMPLETED,
                row.print(),
                row.attempts(),
                row.uncertainIfLost(),
                new CommandRecord.Ended(outcome.rejected(), outcome.result(), reason == null ? "" : reason),
                null,
                Duration.ZERO,
                outcome.keyTtl(),
                outcome.result().kind() == ResultKind.INLINE ? outcome.resultTtl() : null,
                row.readAt());
    }

    /**
     * Writes the outcome in a transaction of its own. If the response of the database is lost, it writes again and then
     * reads the row.
     */
    boolean complete(CommandOwner owner, CommandOutcome outcome) {
        try {
            return store.complete(owner, outcome);
        } catch (StoreUnavailableException e) {
            return store.complete(owner, outcome) || isCompletedBy(owner);
        }
    }

    /**
     * Finds out whether a commit without a response succeeded. The transaction wrote the outcome and locks the row
     * until it ends. This statement waits for that lock. Then it finds the outcome, or it marks the unchanged row as
     * failed so that a retry can run.
     */
    boolean wasCommitted(CommandRequest<?> request, CommandOwner owner, Throwable failure) {
        if (store.fail(owner, text(failure), request.command().options().maxAttempts())) {
            return false;
        }
        return isCompletedBy(owner);
    }

    private boolean isCompletedBy(CommandOwner owner) {
        return store.find(owner.id())
                .filter(row -> row.owner().equals(owner) && row.state() == CommandRecord.State.COMPLETED)
                .isPresent();
    }

    /**
     * Marks the command as failed after a rollback, so that a retry can run it. If the statement fails, the end of the
     * lease permits a retry.
     */
    void markFailed(CommandRequest<?> request, CommandRecord row, Throwable failure) {
        try {
            String error = text(failure);
            if (store.fail(row.owner(), error, request.command().options().maxAttempts())) {
                events.on(new Event.CommandFailed(operation(request), row.reference(), row.attempts(), error));
            } else {
                events.on(new Event.CommandLost(operation(request), row.reference()));
            }
        } catch (PostriderException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Marks the command as uncertain, because its external effect may have happened. It does not run again until a
     * probe or an operator resolves it. If the statement fails, the end of the lease makes the command uncertain.
     */
    void markUncertain(CommandRequest<?> request, CommandRecord row, Throwable failure) {
        try {
            if (store.fail(row.owner(), text(failure), NO_SECOND_ATTEMPT)) {
                events.on(new Event.CommandUncertain(operation(request), row.reference()));
            } else {
                events.on(new Event.CommandLost(operation(request), row.reference()));
            }
        } catch (PostriderException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Handles the loss of the lease. If the new owner has completed the command, its result is returned.
     *
     * @throws CommandLostException when the command is not completed
     */
    <R> RunResult<R> lost(CommandRequest<R> request, CommandRecord row) {
        events.on(new Event.CommandLost(operation(request), row.reference()));
        Optional<CommandRecord> found = store.find(row.owner().id())
                .filter(other -> other.state() == CommandRecord.State.COMPLETED && request.isSameAs(other.print()));
        if (found.isEmpty()) {
            throw new CommandLostException(row.reference());
        }
        return new RunResult<>(replies.replay(request, found.get()), found);
    }

    /**
     * Returns the result of a command whose external effect happened and whose outcome could not be stored. This is
     * never reported as a failure. When the lease ends, the policy for lost leases applies.
     */
    <R> RunResult<R> unrecorded(CommandRecord row, ResultEncoding.Kept<R> kept, PostriderException failure) {
        events.on(new Event.StoreFailed("record the end of command " + row.reference(), text(failure), Duration.ZERO));
        String reason = kept.reason();
        CommandResult<R> result = reason != null
                ? new CommandResult.Rejected<>(row.reference(), reason, kept.value(), false, false, false)
                : new CommandResult.Completed<>(row.reference(), kept.value(), false, false);
        return new RunResult<>(result, Optional.empty());
    }

    /**
     * Completes a command without a stored result, because the result could not be encoded. The external effect
     * happened, so the command must not run again.
     */
    void completeWithoutResult(CommandRequest<?> request, CommandRecord row, RuntimeException failure) {
        try {
            complete(row.owner(), results.without(request.command()));
        } catch (PostriderException e) {
            failure.addSuppressed(e);
        }
    }

    private static String text(Throwable failure) {
        return ErrorText.clean(ErrorText.of(failure), ERROR_LIMIT);
    }

    private static String operation(CommandRequest<?> request) {
        return request.command().identity().operation();
    }
}
