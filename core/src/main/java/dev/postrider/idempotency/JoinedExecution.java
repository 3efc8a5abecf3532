package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.internal.store.Transactions;

/**
 * Runs a command in the transaction of the caller, which the caller commits. Key, result and work are committed or
 * rolled back together. Thread-safe.
 */
final class JoinedExecution {

    private final Transactions transactions;
    private final CommandStore store;
    private final CommandClaimer claimer;
    private final ResultEncoding results;
    private final CommandReplies replies;

    JoinedExecution(
            Transactions transactions,
            CommandStore store,
            CommandClaimer claimer,
            ResultEncoding results,
            CommandReplies replies) {
        this.transactions = transactions;
        this.store = store;
        this.claimer = claimer;
        this.results = results;
        this.replies = replies;
    }

    <R, X extends Exception> CommandResult<R> run(
            Transactions.Part part, CommandRequest<R> request, CommandWork<R, X> work) throws X {
        CommandStore.Joined rows = store.within(part);
        part.mark();
        CommandClaimResult claimResult = claimer.claim(request, rows);
        if (!(claimResult instanceof CommandClaimResult.Claimed claimed)) {
            return replies.of(request, claimResult);
        }
        part.mark();
        try {
            ResultEncoding.Kept<R> kept = run(part, request, claimed.row(), work);
            part.flush();
            return end(rows, claimed.row(), kept);
        } catch (Throwable e) {
            undo(part, e);
            throw e;
        }
    }

    /** Runs the work. A rejection keeps the claim and rolls back the work. */
    private <R, X extends Exception> ResultEncoding.Kept<R> run(
            Transactions.Part part, CommandRequest<R> request, CommandRecord row, CommandWork<R, X> work) throws X {
        try {
            return results.success(
                    request.command(), row.owner(), work.run(new JoinedCommandTransaction(part, row, transactions)));
        } catch (CommandRejectedException e) {
            part.undo();
            return results.rejection(request.command(), row.owner(), e);
        }
    }

    /** Writes the outcome. No other owner can have the row, because this transaction has locked it since the claim. */
    private static <R> CommandResult<R> end(CommandStore.Joined rows, CommandRecord row, ResultEncoding.Kept<R> kept) {
        if (!rows.complete(row.owner(), kept.outcome())) {
            throw new CommandLostException(row.reference());
        }
        return CommandCompletion.result(row, kept);
    }

    /**
     * Rolls back to the savepoint before the claim, so that the key is free if the caller commits the rest. After a
     * deadlock, or when the work has ended the transaction, no savepoint is left. The caller must then get that error,
     * because the writes before this call are rolled back or committed as well.
     */
    private static void undo(Transactions.Part part, Throwable reason) {
        try {
            part.undoAll();
        } catch (PostriderException e) {
            if (e == reason) {
                return;
            }
            if (isEnd(e) || (e instanceof TransactionConflictException && !isOfTheTransaction(reason))) {
                e.addSuppressed(reason);
                throw e;
            }
            reason.addSuppressed(e);
        }
    }

    private static boolean isOfTheTransaction(Throwable reason) {
        return reason instanceof TransactionConflictException || isEnd(reason);
    }

    private static boolean isEnd(Throwable failure) {
        return failure instanceof UnusableConnectionException unusable
                && unusable.problem() == UnusableConnectionException.Problem.ENDED;
    }
}
