package dev.postrider.idempotency;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.store.CommandOutcome.ResultKind;
import dev.postrider.internal.store.CommandRecord;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes the result for a caller that did not run the command itself. Thread-safe. */
final class CommandReplies {

    private final ResultEncoding results;
    private final RetryAfterEstimate estimate;
    private final EventListener events;

    CommandReplies(ResultEncoding results, RetryAfterEstimate estimate, EventListener events) {
        this.results = results;
        this.estimate = estimate;
        this.events = events;
    }

    <R> CommandResult<R> of(CommandRequest<R> request, CommandClaimResult claimResult) {
        String operation = request.command().identity().operation();
        if (claimResult instanceof CommandClaimResult.Completed ended) {
            return replay(request, ended.row());
        }
        if (claimResult instanceof CommandClaimResult.InProgress busy) {
            events.on(new Event.CommandConflict(operation));
            return new CommandResult.InProgress<>(busy.reference(), estimate.retryAfter(operation, busy.leaseLeft()));
        }
        if (claimResult instanceof CommandClaimResult.Uncertain unknown) {
            return new CommandResult.Uncertain<>(unknown.reference());
        }
        if (claimResult instanceof CommandClaimResult.Claimed claimed) {
            return of(
                    request,
                    new CommandClaimResult.InProgress(
                            claimed.row().reference(), claimed.row().leaseLeft()));
        }
        events.on(new Event.CommandMismatch(operation));
        return new CommandResult.Mismatch<>();
    }

    /**
     * The result of an earlier call. A result past its retention is not returned, even if the purge has not removed it
     * yet.
     */
    <R> CommandResult<R> replay(CommandRequest<R> request, CommandRecord row) {
        CommandRecord.Ended ended = Objects.requireNonNull(row.outcome(), "a completed command has an outcome");
        events.on(new Event.CommandReplayed(request.command().identity().operation(), row.reference()));
        Duration left = row.resultLeft();
        boolean over = left != null && (left.isNegative() || left.isZero());
        ResultKind kind = over ? ResultKind.DROPPED : ended.result().kind();
        if (ended.rejected()) {
            R value = over ? null : value(request, row, ended);
            String reason = reason(row, ended);
            return new CommandResult.Rejected<>(row.reference(), reason, value, true, kind == ResultKind.DROPPED, true);
        }
        if (kind == ResultKind.OMITTED || kind == ResultKind.DROPPED) {
            return new CommandResult.ResultOmitted<>(row.reference(), kind == ResultKind.OMITTED);
        }
        return new CommandResult.Completed<>(row.reference(), value(request, row, ended), true);
    }

    /** @throws UnreadableResultException for every failure to decode the result; the command stays completed */
    private <R> @Nullable R value(CommandRequest<R> request, CommandRecord row, CommandRecord.Ended ended) {
        try {
            return results.read(request.command(), row.owner(), ended.result());
        } catch (RuntimeException e) {
            throw new UnreadableResultException(row.reference(), e);
        }
    }

    private String reason(CommandRecord row, CommandRecord.Ended ended) {
        try {
            return results.reason(row.owner(), ended.reason());
        } catch (RuntimeException e) {
            throw new UnreadableResultException(row.reference(), e);
        }
    }

    /** Records the run time of a command that this node has run. */
    void took(CommandRequest<?> request, long nanos) {
        estimate.took(request.command().identity().operation(), nanos);
    }
}
