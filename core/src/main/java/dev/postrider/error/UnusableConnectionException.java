package dev.postrider.error;

import org.jspecify.annotations.Nullable;

/**
 * The connection cannot be used for the requested operation, for example to write a message in the caller's
 * transaction. Nothing was written, except with {@link Problem#ENDED}.
 */
public final class UnusableConnectionException extends PostriderException {

    /** The reasons why a connection cannot be used. */
    public enum Problem {
        AUTOCOMMIT("is in autocommit mode, so each statement would be committed alone:"
                + " call connection.setAutoCommit(false) before your first statement"),
        READ_ONLY("is read-only: write in a read-write transaction"),
        CLOSED("is closed: enqueue before the transaction ends and the connection is returned to its pool"),
        ABORTED("is in a transaction that an earlier error aborted: roll it back and run the whole transaction again"),
        FOREIGN("leads to another database than Postrider's data source, so no node would deliver the message:"
                + " take the connection from that data source"),
        GUARDED(
                "belongs to a unit of work, which ends the transaction itself: return from the work to commit, throw from it"
                        + " to roll back, leave the connection open, and run DDL outside of the work if the database commits"
                        + " before it"),
        ENDED(
                "belongs to a unit of work, and a statement of the work ended its transaction, as COMMIT in a text of several statements"
                        + " or in a procedure does: part of the work may be committed, with or without its messages. Leave such"
                        + " statements out of the work"),
        IN_TRANSACTION(
                "from the data source already has an open transaction, which Postrider would commit. The data source is"
                        + " probably a transaction-aware proxy: give Postrider the data source behind the proxy, and use"
                        + " postrider.outbox(connection), inbox.process(connection, …) or commands.join(connection, …) to take"
                        + " part in the transaction");

        private final String text;

        Problem(String text) {
            this.text = text;
        }
    }

    private final Problem problem;

    public UnusableConnectionException(Problem problem, String detail, @Nullable Throwable cause) {
        super("The connection " + problem.text + detail, cause);
        this.problem = problem;
    }

    public UnusableConnectionException(Problem problem) {
        this(problem, "", null);
    }

    /** Returns the reason why the connection cannot be used. */
    public Problem problem() {
        return problem;
    }
}
