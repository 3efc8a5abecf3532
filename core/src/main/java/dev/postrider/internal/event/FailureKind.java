package dev.postrider.internal.event;

/** The kinds of failures that are logged at warn, with the prefixes of their lines. */
enum FailureKind {
    ATTEMPT("OUTBOX_WORKER_DISPATCH_FAIL", "OUTBOX_WORKER_DISPATCH_FAIL_MORE", "topic", 1),
    DEAD("OUTBOX_WORKER_DEAD", "OUTBOX_WORKER_DEAD_MORE", "topic", 100),
    PARKED("OUTBOX_WORKER_PARK", "OUTBOX_WORKER_PARK_MORE", "topic", 100),
    COMMAND("COMMAND_FAIL", "COMMAND_FAIL_MORE", "op", 1);

    /** The prefix of the line of one failure. */
    final String line;

    /** The prefix of the line that counts failures without a line of their own. */
    final String more;

    /** The name of the field for the topic or the operation. */
    final String subject;

    /**
     * How many failures that are alike have a line of their own in one interval. An operator must deal with each dead
     * letter and each parked message, so these have more.
     */
    final int lines;

    FailureKind(String line, String more, String subject, int lines) {
        this.line = line;
        this.more = more;
        this.subject = subject;
        this.lines = lines;
    }
}
