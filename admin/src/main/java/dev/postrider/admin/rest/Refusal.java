package dev.postrider.admin.rest;

import java.util.Map;

/** Ends a request with a problem. Nothing was changed. It has no stack trace, because a client can cause it at will. */
final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient Problem problem;
    private final transient Map<String, String> headers;

    Refusal(Problem problem, Map<String, String> headers) {
        super(problem.detail(), null, false, false);
        this.problem = problem;
        this.headers = headers;
    }

    Problem problem() {
        return problem;
    }

    /** Headers that belong to the problem, such as Allow. */
    Map<String, String> headers() {
        return headers;
    }
}
