package dev.postrider.idempotency.http;

import org.jspecify.annotations.Nullable;

/**
 * Carries a response that must not be stored out of the work of a command, so that the work is rolled back. {@link
 * KeyedRun} converts it to a response.
 */
final class UnkeptException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient @Nullable KeyedResponse answer;
    private final @Nullable HttpProblem problem;

    UnkeptException(KeyedResponse answer) {
        super("status " + answer.status(), null, false, false);
        this.answer = answer;
        this.problem = null;
    }

    UnkeptException(HttpProblem problem) {
        super(problem.code(), null, false, false);
        this.answer = null;
        this.problem = problem;
    }

    /** The response of the handler, or null when there is a {@link #problem()}. */
    @Nullable
    KeyedResponse answer() {
        return answer;
    }

    @Nullable
    HttpProblem problem() {
        return problem;
    }
}
