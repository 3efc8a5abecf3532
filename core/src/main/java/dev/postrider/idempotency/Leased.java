package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.store.CommandRecord;

/** Runs a claimed command outside of any transaction, under a lease that is kept up. Thread-safe. */
final class Leased {

    private final Running running;
    private final Endings endings;

    Leased(Running running, Endings endings) {
        this.running = running;
        this.endings = endings;
    }

    <R, X extends Exception> Ran<R> run(Request<R> request, CommandRecord row, LeasedWork<R, X> work) throws X {
        Command.Options options = request.command().options();
        Running.Tenure tenure = running.begin(row.owner(), options);
        try {
            LeaseInHand lease = lease(request, row, tenure);
            Results.Kept<R> kept = run(request, row, work, lease);
            return end(request, row, kept, tenure.took());
        } finally {
            tenure.end();
        }
    }

    private LeaseInHand lease(Request<?> request, CommandRecord row, Running.Tenure tenure) {
        try {
            return new LeaseInHand(
                    endings.store(),
                    endings.results(),
                    row,
                    tenure,
                    request.command().options());
        } catch (RuntimeException e) {
            endings.giveBack(request, row, e);
            throw e;
        }
    }

    private <R, X extends Exception> Results.Kept<R> run(
            Request<R> request, CommandRecord row, LeasedWork<R, X> work, LeaseInHand lease) throws X {
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
            return endings.results().success(request.command(), row.owner(), value);
        } catch (RuntimeException e) {
            endings.forget(request, row, e);
            throw e;
        }
    }

    private <R> Results.Kept<R> rejection(
            Request<R> request, CommandRecord row, CommandRejectedException rejection, LeaseInHand lease) {
        try {
            return endings.results().rejection(request.command(), row.owner(), rejection);
        } catch (RuntimeException e) {
            failed(request, row, e, lease);
            throw e;
        }
    }

    /** Once something may have happened elsewhere, nobody may run the work again. */
    private void failed(Request<?> request, CommandRecord row, Throwable failure, LeaseInHand lease) {
        if (lease.isEffectPossible()) {
            endings.doubt(request, row, failure);
        } else {
            endings.giveBack(request, row, failure);
        }
    }

    private <R> Ran<R> end(Request<R> request, CommandRecord row, Results.Kept<R> kept, long nanos) {
        boolean recorded;
        try {
            recorded = endings.complete(row.owner(), kept.outcome());
        } catch (PostriderException e) {
            return endings.unrecorded(row, kept, e);
        }
        return recorded ? endings.ended(request, row, kept, nanos) : endings.lost(request, row);
    }
}
