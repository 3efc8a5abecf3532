package dev.postrider.error;

import org.jspecify.annotations.Nullable;

/** The connection cannot be used for what was asked of it, for instance to carry a message in the caller's transaction. Nothing was written. */
public final class UnusableConnectionException extends PostriderException {

    /** What is wrong with the connection. */
    public enum Problem {
        AUTOCOMMIT("is in autocommit mode, so the message would be committed alone:"
                + " call connection.setAutoCommit(false) before your first statement"),
        READ_ONLY("is read-only: write the message in a read-write transaction"),
        CLOSED("is closed: enqueue before the transaction ends and the connection is given back"),
        ABORTED("is in a transaction that an earlier error aborted: roll it back and run the whole transaction again"),
        FOREIGN(
                "leads to another database than Postrider's data source, so the message would be lost to its dispatchers:"
                        + " take the connection from that data source"),
        GUARDED(
                "belongs to a unit of work, which ends the transaction itself: return from the work to commit, throw from it"
                        + " to roll back, and leave the connection open"),
        IN_TRANSACTION(
                "that the data source handed out is in the middle of a transaction, as a transaction-aware data source"
                        + " proxy does inside a transaction of the caller's, and Postrider would commit that: give Postrider the data"
                        + " source behind the proxy, and use postrider.outbox(connection), inbox.process(connection, …) or"
                        + " commands.join(connection, …) to take part in the transaction");

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

    public Problem problem() {
        return problem;
    }
}
