package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.internal.store.CommandRecord;

/** Runs a claimed command outside of a transaction, under a lease that is renewed. Thread-safe. */
final class LeasedExecution {

    private final CommandLeases leases;
    private final CommandCompletion completion;

    LeasedExecution(CommandLeases leases, CommandCompletion completion) {
        this.leases = leases;
        this.completion = completion;
    }

    <R, X extends Exception> RunResult<R> run(
            CommandRequest<R> request, CommandClaimResult.Claimed claimed, LeasedWork<R, X> work) throws X {
        CommandRecord row = claimed.row();
        Command.Options options = request.command().options();
        CommandLeases.RunningLease runningLease = leases.begin(claimed, options);
        try {
            ActiveLease lease = lease(request, row, runningLease);
            ResultEncoding.Kept<R> kept = run(request, row, work, lease);
            return end(request, row, kept, runningLease.took());
        } finally {
            runningLease.end();
        }
    }

    private ActiveLease lease(CommandRequest<?> request, CommandRecord row, CommandLeases.RunningLease runningLease) {
        try {
            return new ActiveLease(
                    completion.store(),
                    completion.results(),
                    row,
                    runningLease,
                    request.command().options());
        } catch (RuntimeException e) {
            completion.markFailed(request, row, e);
            throw e;
        }
    }

    private <R, X extends Exception> ResultEncoding.Kept<R> run(
            CommandRequest<R> request, CommandRecord row, LeasedWork<R, X> work, ActiveLease lease) throws X {
        R value;
        try {
            value = work.run(lease);
        } catch (CommandRejectedException e) {
            return rejection(request, row, e, lease);
        } catch (Throwable e) {
            failed(request, row, e, lease);
            throw e;
        }
        try {
            return completion.results().success(request.command(), row.owner(), value);
        } catch (RuntimeException e) {
            completion.completeWithoutResult(request, row, e);
            throw e;
        }
    }

    private <R> ResultEncoding.Kept<R> rejection(
            CommandRequest<R> request, CommandRecord row, CommandRejectedException rejection, ActiveLease lease) {
        try {
            return completion.results().rejection(request.command(), row.owner(), rejection);
        } catch (RuntimeException e) {
            failed(request, row, e, lease);
            throw e;
        }
    }

    /** Writes a failure. After a possible external effect the work must not run again. */
    private void failed(CommandRequest<?> request, CommandRecord row, Throwable failure, ActiveLease lease) {
        if (lease.isEffectPossible()) {
            completion.markUncertain(request, row, failure);
        } else {
            completion.markFailed(request, row, failure);
        }
    }

    private <R> RunResult<R> end(
            CommandRequest<R> request, CommandRecord row, ResultEncoding.Kept<R> kept, long nanos) {
        boolean recorded;
        try {
            recorded = completion.complete(row.owner(), kept.outcome());
        } catch (PostriderException e) {
            return completion.unrecorded(row, kept, e);
        }
        return recorded ? completion.ended(request, row, kept, nanos) : completion.lost(request, row);
    }
}
