package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.ErrorText;
import dev.postrider.store.CommandOutcome;
import dev.postrider.store.CommandOutcome.Kind;
import dev.postrider.store.CommandOwner;
import dev.postrider.store.CommandRecord;
import dev.postrider.store.CommandStore;
import java.time.Duration;
import java.util.Optional;

/** How a command that was run comes to its end, whatever is lost on the way. Thread-safe. */
final class Endings {

    private static final int ERROR_LIMIT = 2000;

    /** Every command that runs has had one attempt, so with this limit it is uncertain at once. */
    private static final int NO_SECOND_ATTEMPT = 1;

    private final CommandStore store;
    private final Results results;
    private final Answers answers;
    private final EventListener events;

    Endings(CommandStore store, Results results, Answers answers, EventListener events) {
        this.store = store;
        this.results = results;
        this.answers = answers;
        this.events = events;
    }

    CommandStore store() {
        return store;
    }

    Results results() {
        return results;
    }

    /** It ended, and the row says so. */
    <R> Ran<R> ended(Request<R> request, CommandRecord row, Results.Kept<R> kept, long nanos) {
        CommandOutcome outcome = kept.outcome();
        answers.took(request, nanos);
        events.on(new Event.CommandCompleted(
                operation(request), row.reference(), outcome.rejected(), Duration.ofNanos(nanos)));
        return new Ran<>(result(row, kept), Optional.of(completed(row, outcome)));
    }

    static <R> CommandResult<R> result(CommandRecord row, Results.Kept<R> kept) {
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
                outcome.result().kind() == Kind.INLINE ? outcome.resultTtl() : null,
                row.readAt());
    }

    /** Writes the end in a statement of its own. If its answer is lost, the row tells. */
    boolean complete(CommandOwner owner, CommandOutcome outcome) {
        try {
            return store.complete(owner, outcome);
        } catch (StoreUnavailableException e) {
            return store.complete(owner, outcome) || isCompletedBy(owner);
        }
    }

    /**
     * For a commit that nobody answered. The transaction has written the end and holds the row until it is over, so this statement
     * waits for it and then finds either the end or the row as it was; and in that case the command is given back.
     */
    boolean wasCommitted(Request<?> request, CommandOwner owner, Throwable failure) {
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

    /** What was done in the transaction is rolled back: somebody else may try. If that cannot be written, the lease will end. */
    void giveBack(Request<?> request, CommandRecord row, Throwable failure) {
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
     * It may have happened elsewhere: nobody runs it again until a probe or an operator says. If that cannot be written, the end of
     * the lease has the same consequence.
     */
    void doubt(Request<?> request, CommandRecord row, Throwable failure) {
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

    /** Somebody else has it. If he is done, his result is the answer. */
    <R> Ran<R> lost(Request<R> request, CommandRecord row) {
        events.on(new Event.CommandLost(operation(request), row.reference()));
        Optional<CommandRecord> found = store.find(row.owner().id())
                .filter(other -> other.state() == CommandRecord.State.COMPLETED && request.isSameAs(other.print()));
        if (found.isEmpty()) {
            throw new CommandLostException(row.reference());
        }
        return new Ran<>(answers.replay(request, found.get()), found);
    }

    /** It happened elsewhere, and only the row does not say so: never turned into a failure. The lease decides what becomes of it. */
    <R> Ran<R> unrecorded(CommandRecord row, Results.Kept<R> kept, PostriderException failure) {
        events.on(new Event.StoreFailed("record the end of command " + row.reference(), text(failure), Duration.ZERO));
        String reason = kept.reason();
        CommandResult<R> result = reason != null
                ? new CommandResult.Rejected<>(row.reference(), reason, kept.value(), false, false, false)
                : new CommandResult.Completed<>(row.reference(), kept.value(), false, false);
        return new Ran<>(result, Optional.empty());
    }

    /** It happened elsewhere, and only its result cannot be encoded: it must not happen again for that. */
    void forget(Request<?> request, CommandRecord row, RuntimeException failure) {
        try {
            complete(row.owner(), results.without(request.command()));
        } catch (PostriderException e) {
            failure.addSuppressed(e);
        }
    }

    private static String text(Throwable failure) {
        return ErrorText.clean(ErrorText.of(failure), ERROR_LIMIT);
    }

    private static String operation(Request<?> request) {
        return request.command().identity().operation();
    }
}
