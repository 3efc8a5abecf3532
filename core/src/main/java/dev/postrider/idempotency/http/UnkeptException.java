package dev.postrider.idempotency.http;

import org.jspecify.annotations.Nullable;

/** Takes an answer that is not to be kept out of the work of a command, which is rolled back by it. Never leaves this room. */
final class UnkeptException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient @Nullable HttpAnswer answer;
    private final @Nullable Problem problem;

    UnkeptException(HttpAnswer answer) {
        super("status " + answer.status(), null, false, false);
        this.answer = answer;
        this.problem = null;
    }

    UnkeptException(Problem problem) {
        super(problem.code(), null, false, false);
        this.answer = null;
        this.problem = problem;
    }

    /** The handler's own, or null when there is a {@link #problem()}. */
    @Nullable
    HttpAnswer answer() {
        return answer;
    }

    @Nullable
    Problem problem() {
        return problem;
    }
}
