package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.CommandRecord;
import dev.postrider.store.Transactions;
import org.jspecify.annotations.Nullable;

/**
 * Runs a claimed command in a transaction whose last statement is its end, which holds only for its owner: whoever was replaced
 * cannot commit. Thread-safe.
 */
final class Fenced {

    private final Transactions transactions;
    private final Running running;
    private final Endings endings;

    Fenced(Transactions transactions, Running running, Endings endings) {
        this.transactions = transactions;
        this.running = running;
        this.endings = endings;
    }

    <R, X extends Exception> Ran<R> run(Request<R> request, CommandRecord row, CommandWork<R, X> work) throws X {
        Run<R, X> run = new Run<>(request, row, work);
        Running.Tenure tenure = running.begin(row.owner(), request.command().options());
        try {
            transactions.run(run::work, run::end);
        } catch (Throwable e) {
            tenure.end();
            return run.failed(e, tenure.took());
        }
        tenure.end();
        return endings.ended(request, row, run.kept(), tenure.took());
    }

    /** The row was not ours any more, so the transaction must not commit. */
    private static final class Replaced extends PostriderException {

        private static final long serialVersionUID = 1;

        Replaced() {
            super("The command belongs to another owner", null);
        }
    }

    private final class Run<R, X extends Exception> {

        private final Request<R> request;
        private final CommandRecord row;
        private final CommandWork<R, X> work;
        private Results.@Nullable Kept<R> kept;
        private @Nullable Throwable thrown;
        private boolean ended;

        Run(Request<R> request, CommandRecord row, CommandWork<R, X> work) {
            this.request = request;
            this.row = row;
            this.work = work;
        }

        Results.Kept<R> kept() {
            if (kept == null) {
                throw new IllegalStateException("the work has not ended");
            }
            return kept;
        }

        boolean work(UnitOfWork unit) throws X {
            try {
                R value = work.run(new JoinedCommand(unit, row, transactions));
                kept = endings.results().success(request.command(), row.owner(), value);
                return true;
            } catch (Throwable e) {
                thrown = e;
                throw e;
            }
        }

        void end(UnitOfWork unit) {
            if (!endings.store().within(unit).complete(row.owner(), kept().outcome())) {
                throw new Replaced();
            }
            ended = true;
        }

        /** Rolled back, unless the last statement was met: then the answer to the commit is what is missing. */
        Ran<R> failed(Throwable e, long nanos) throws X {
            if (thrown instanceof CommandRejectedException rejection) {
                return rejected(rejection, nanos);
            }
            if (e instanceof Replaced) {
                return endings.lost(request, row);
            }
            if (!ended) {
                Throwable cause = thrown == null ? e : thrown;
                endings.giveBack(request, row, cause);
                throw Run.<X>as(cause);
            }
            if (wasCommitted(e)) {
                return endings.ended(request, row, kept(), nanos);
            }
            throw Run.<X>as(e);
        }

        private boolean wasCommitted(Throwable e) throws X {
            try {
                return endings.wasCommitted(request, row.owner(), e);
            } catch (PostriderException unknown) {
                e.addSuppressed(unknown);
                throw Run.<X>as(e);
            }
        }

        private Ran<R> rejected(CommandRejectedException rejection, long nanos) {
            Results.Kept<R> no;
            try {
                no = endings.results().rejection(request.command(), row.owner(), rejection);
            } catch (RuntimeException e) {
                endings.giveBack(request, row, e);
                throw e;
            }
            return endings.complete(row.owner(), no.outcome())
                    ? endings.ended(request, row, no, nanos)
                    : endings.lost(request, row);
        }

        /** What came out of the transaction is what may come out of the work, or unchecked. */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        private static <X extends Exception> X as(Throwable e) throws X {
            throw (X) e;
        }
    }
}
