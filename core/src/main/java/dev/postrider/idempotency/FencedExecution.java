package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.Transactions;
import dev.postrider.outbox.UnitOfWork;
import org.jspecify.annotations.Nullable;

/**
 * Runs a claimed command in a transaction whose last statement writes the outcome. This statement is fenced: an owner
 * whose command was taken over cannot commit. Thread-safe.
 */
final class FencedExecution {

    private final Transactions transactions;
    private final CommandLeases leases;
    private final CommandCompletion completion;

    FencedExecution(Transactions transactions, CommandLeases leases, CommandCompletion completion) {
        this.transactions = transactions;
        this.leases = leases;
        this.completion = completion;
    }

    <R, X extends Exception> RunResult<R> run(
            CommandRequest<R> request, CommandClaimResult.Claimed claimed, CommandWork<R, X> work) throws X {
        CommandRecord row = claimed.row();
        FencedRun<R, X> run = new FencedRun<>(request, row, work);
        CommandLeases.RunningLease runningLease =
                leases.begin(claimed, request.command().options());
        try {
            transactions.run(run::work, run::end);
        } catch (Throwable e) {
            runningLease.end();
            return run.failed(e, runningLease.took());
        }
        runningLease.end();
        return completion.ended(request, row, run.kept(), runningLease.took());
    }

    /** The fence refused the outcome, so the transaction must roll back. */
    private static final class Replaced extends PostriderException {

        private static final long serialVersionUID = 1;

        Replaced() {
            super("The command belongs to another owner", null);
        }
    }

    private final class FencedRun<R, X extends Exception> {

        private final CommandRequest<R> request;
        private final CommandRecord row;
        private final CommandWork<R, X> work;
        private ResultEncoding.@Nullable Kept<R> kept;
        private @Nullable Throwable thrown;
        private boolean ended;

        FencedRun(CommandRequest<R> request, CommandRecord row, CommandWork<R, X> work) {
            this.request = request;
            this.row = row;
            this.work = work;
        }

        ResultEncoding.Kept<R> kept() {
            if (kept == null) {
                throw new IllegalStateException("the work has not ended");
            }
            return kept;
        }

        boolean work(UnitOfWork unit) throws X {
            try {
                R value = work.run(new JoinedCommandTransaction(unit, row, transactions));
                kept = completion.results().success(request.command(), row.owner(), value);
                return true;
            } catch (Throwable e) {
                thrown = e;
                throw e;
            }
        }

        void end(UnitOfWork unit) {
            if (!completion.store().within(unit).complete(row.owner(), kept().outcome())) {
                throw new Replaced();
            }
            ended = true;
        }

        /**
         * Handles a failed transaction. The transaction was rolled back, unless its last statement succeeded: then the
         * response to the commit is missing, and the row shows whether the transaction committed.
         */
        RunResult<R> failed(Throwable e, long nanos) throws X {
            if (e instanceof UnusableConnectionException unusable
                    && unusable.problem() == UnusableConnectionException.Problem.ENDED) {
                completion.markUncertain(request, row, e); // the work ended its transaction: a part may be committed
                throw FencedRun.<X>as(e);
            }
            if (thrown instanceof CommandRejectedException rejection) {
                return rejected(rejection, nanos);
            }
            if (e instanceof Replaced) {
                return completion.lost(request, row);
            }
            if (!ended) {
                Throwable cause = thrown == null ? e : thrown;
                completion.markFailed(request, row, cause);
                throw FencedRun.<X>as(cause);
            }
            if (wasCommitted(e)) {
                return completion.ended(request, row, kept(), nanos);
            }
            throw FencedRun.<X>as(e);
        }

        private boolean wasCommitted(Throwable e) throws X {
            try {
                return completion.wasCommitted(request, row.owner(), e);
            } catch (PostriderException unknown) {
                e.addSuppressed(unknown);
                throw FencedRun.<X>as(e);
            }
        }

        private RunResult<R> rejected(CommandRejectedException rejection, long nanos) {
            ResultEncoding.Kept<R> no;
            try {
                no = completion.results().rejection(request.command(), row.owner(), rejection);
            } catch (RuntimeException e) {
                completion.markFailed(request, row, e);
                throw e;
            }
            return completion.complete(row.owner(), no.outcome())
                    ? completion.ended(request, row, no, nanos)
                    : completion.lost(request, row);
        }

        /**
         * Rethrows a failure of the transaction. It has the type that the work may throw, or it is unchecked or an
         * error, so the type bound must allow it.
         */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        private static <X extends Throwable> X as(Throwable e) throws X {
            throw (X) e;
        }
    }
}
