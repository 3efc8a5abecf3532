package dev.postrider.admin.rest;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.StoreException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.internal.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns exceptions into problems. What the database said goes to the log only. */
final class Failures {

    private static final Logger log = LoggerFactory.getLogger(AdminApi.class);

    private Failures() {}

    /**
     * Returns whether an exception of a change proves that it did nothing.
     *
     * @param wasInSteps whether earlier transactions of the change may have been committed
     */
    static boolean changedNothing(RuntimeException e, boolean wasInSteps) {
        return e instanceof Refusal
                || e instanceof InvalidConfigurationException
                || e instanceof InvalidMessageException
                || e instanceof UnknownTopicException
                || (e instanceof TransactionConflictException && !wasInSteps);
    }

    static AdminResponse response(RuntimeException e) {
        if (e instanceof Refusal refusal) {
            return response(refusal.problem(), refusal.headers());
        }
        if (e instanceof InvalidConfigurationException invalid) {
            return response(Problem.ofField(invalid.property(), Checked.problem(invalid)), Map.of());
        }
        if (e instanceof InvalidMessageException invalid) {
            return response(
                    new Problem(ProblemType.BAD_INPUT, String.valueOf(invalid.getMessage()), invalid.field(), null),
                    Map.of());
        }
        if (e instanceof UnknownTopicException) {
            return response(
                    ProblemType.UNKNOWN_TOPIC.because(
                            "A topic is registered when a process that declares it starts: check the name"),
                    Map.of());
        }
        return logged(e);
    }

    private static AdminResponse logged(RuntimeException e) {
        if (e instanceof TransactionConflictException) {
            log.warn("A request to the admin API gave way to another transaction", e);
            return response(
                    ProblemType.CONFLICT.because("Other transactions were in the way: send the request again"),
                    later());
        }
        boolean isOfStore = e instanceof StoreException
                || e instanceof SchemaMismatchException
                || e instanceof UnusableConnectionException;
        if (isOfStore) {
            log.warn("A request to the admin API failed in the database", e);
            return response(
                    ProblemType.STORE_UNAVAILABLE.because(
                            "The database did not answer, or refused. The log of this process has the reason."
                                    + " A change may have been made nevertheless: look at the audit"),
                    later());
        }
        log.error("A request to the admin API failed", e);
        return response(
                ProblemType.FAILED.because("This is an error of the server. The log of this process has the reason"),
                Map.of());
    }

    private static Map<String, String> later() {
        return Map.of("Retry-After", "5");
    }

    static AdminResponse response(Problem problem, Map<String, String> more) {
        Map<String, String> headers = new LinkedHashMap<>(more);
        headers.put("Content-Type", "application/problem+json");
        return new AdminResponse(
                problem.type().status(), headers, JsonText.of(Json.writeTree(problem.members())), null);
    }
}
