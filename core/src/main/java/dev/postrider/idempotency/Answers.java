package dev.postrider.idempotency;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.store.CommandOutcome.Kind;
import dev.postrider.store.CommandRecord;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Says what a caller is told who did not run the command. Thread-safe. */
final class Answers {

    private final Results results;
    private final Pace pace;
    private final EventListener events;

    Answers(Results results, Pace pace, EventListener events) {
        this.results = results;
        this.pace = pace;
        this.events = events;
    }

    <R> CommandResult<R> of(Request<R> request, Verdict verdict) {
        String operation = request.command().identity().operation();
        if (verdict instanceof Verdict.Ended ended) {
            return replay(request, ended.row());
        }
        if (verdict instanceof Verdict.Busy busy) {
            events.on(new Event.CommandConflict(operation));
            return new CommandResult.InProgress<>(busy.reference(), pace.retryAfter(operation, busy.leaseLeft()));
        }
        if (verdict instanceof Verdict.Unknown unknown) {
            return new CommandResult.Uncertain<>(unknown.reference());
        }
        if (verdict instanceof Verdict.Mine mine) {
            return of(
                    request, new Verdict.Busy(mine.row().reference(), mine.row().leaseLeft()));
        }
        events.on(new Event.CommandMismatch(operation));
        return new CommandResult.Mismatch<>();
    }

    /** The result of an earlier call. One that is past its time is not given any more, whether it was swept or not. */
    <R> CommandResult<R> replay(Request<R> request, CommandRecord row) {
        CommandRecord.Ended ended = Objects.requireNonNull(row.outcome(), "a completed command has an outcome");
        events.on(new Event.CommandReplayed(request.command().identity().operation(), row.reference()));
        Duration left = row.resultLeft();
        boolean over = left != null && (left.isNegative() || left.isZero());
        Kind kind = over ? Kind.DROPPED : ended.result().kind();
        if (ended.rejected()) {
            R value = over ? null : value(request, row, ended);
            String reason = reason(row, ended);
            return new CommandResult.Rejected<>(row.reference(), reason, value, true, kind == Kind.DROPPED, true);
        }
        if (kind == Kind.OMITTED || kind == Kind.DROPPED) {
            return new CommandResult.Forgotten<>(row.reference(), kind == Kind.OMITTED);
        }
        return new CommandResult.Completed<>(row.reference(), value(request, row, ended), true);
    }

    /** @throws UnreadableResultException whatever is wrong with it: the command has ended all the same */
    private <R> @Nullable R value(Request<R> request, CommandRecord row, CommandRecord.Ended ended) {
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

    /** One that this node has just run took so long. */
    void took(Request<?> request, long nanos) {
        pace.took(request.command().identity().operation(), nanos);
    }
}
