package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.store.CommandRecord;
import dev.postrider.store.CommandStore;
import dev.postrider.store.Transactions;

/** Runs a command in the caller's transaction, who commits it: key, result and work stand or fall together. Thread-safe. */
final class Joining {

    private final Transactions transactions;
    private final CommandStore store;
    private final Claims claims;
    private final Results results;
    private final Answers answers;

    Joining(Transactions transactions, CommandStore store, Claims claims, Results results, Answers answers) {
        this.transactions = transactions;
        this.store = store;
        this.claims = claims;
        this.results = results;
        this.answers = answers;
    }

    <R, X extends Exception> CommandResult<R> run(Transactions.Part part, Request<R> request, CommandWork<R, X> work)
            throws X {
        CommandStore.Joined rows = store.within(part);
        part.mark();
        Verdict verdict = claims.claim(request, rows);
        if (!(verdict instanceof Verdict.Mine mine)) {
            return answers.of(request, verdict);
        }
        part.mark();
        try {
            Results.Kept<R> kept = run(part, request, mine.row(), work);
            part.flush();
            return end(rows, mine.row(), kept);
        } catch (Throwable e) {
            undo(part, e);
            throw e;
        }
    }

    /** A rejection keeps the claim and undoes the work. */
    private <R, X extends Exception> Results.Kept<R> run(
            Transactions.Part part, Request<R> request, CommandRecord row, CommandWork<R, X> work) throws X {
        try {
            return results.success(
                    request.command(), row.owner(), work.run(new JoinedCommand(part, row, transactions)));
        } catch (CommandRejectedException e) {
            part.undo();
            return results.rejection(request.command(), row.owner(), e);
        }
    }

    /** Nobody else can have the row: this transaction has it locked since the claim. */
    private static <R> CommandResult<R> end(CommandStore.Joined rows, CommandRecord row, Results.Kept<R> kept) {
        if (!rows.complete(row.owner(), kept.outcome())) {
            throw new CommandLostException(row.reference());
        }
        return Endings.result(row, kept);
    }

    /**
     * The claim too, so that the key is free if the caller commits the rest. After a deadlock there is nothing left to undo, and the
     * caller must learn that what was written before the call is gone, too.
     */
    private static void undo(Transactions.Part part, Throwable reason) {
        try {
            part.undoAll();
        } catch (TransactionConflictException lost) {
            if (!(reason instanceof TransactionConflictException)) {
                lost.addSuppressed(reason);
                throw lost;
            }
            reason.addSuppressed(lost);
        } catch (PostriderException e) {
            reason.addSuppressed(e);
        }
    }
}
