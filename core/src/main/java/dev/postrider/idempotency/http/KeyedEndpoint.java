package dev.postrider.idempotency.http;

import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.InvalidCommandException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operation with keys, whatever the server: an adapter asks whether a request is protected, reads its body, and sends the
 * answer it is given, in this order and nothing before. Thread-safe.
 *
 * <p>The order in which a request is looked at is part of the contract: size, {@link IdempotencyKey#checkedBy}, form of the key,
 * caller and tenant, then age of the key, fingerprint, state and lease as the store sees them.
 */
public final class KeyedEndpoint {

    static final String KEY = "Idempotency-Key";

    private static final Logger LOG = LoggerFactory.getLogger(KeyedEndpoint.class);

    private final KeySettings settings;
    private final Commands commands;
    private final AnswerCodec codec;

    KeyedEndpoint(KeySettings settings, Commands commands) {
        this.settings = settings;
        this.commands = Objects.requireNonNull(commands);
        this.codec = new AnswerCodec(settings.replayed);
    }

    /** Handles a request while keys cannot be looked up, if the operation {@linkplain IdempotencyKey#failOpen() goes on} then. */
    @FunctionalInterface
    public interface Unprotected<X extends Exception> {

        HttpAnswer handle(HttpCall call) throws X;
    }

    /** Whether a request is protected; otherwise hand it on as it is, with its body unread. */
    public boolean appliesTo(HttpCall call) {
        return settings.methods.contains(call.method()) && (settings.required || call.header(KEY) != null);
    }

    /** The most that need be read of a body: one byte more than is allowed. */
    public int readLimit() {
        return settings.largestRequest + 1;
    }

    /** A new buffer for the answer of a handler that writes to a stream. */
    public AnswerBuffer buffer() {
        return new AnswerBuffer(settings.largestAnswer);
    }

    boolean failsOpen() {
        return settings.failOpen;
    }

    /**
     * The answer to a protected request, to be sent as it is. Once it is returned its record is committed, so that nothing that
     * happens to it on its way can change the record. If the transaction gives way to another one, the handler runs again, a few
     * times.
     *
     * @throws X what the handler threw; its work was rolled back, and the same key may be tried again
     */
    public <X extends Exception> HttpAnswer answer(HttpCall call, KeyedHandler<X> handler) throws X {
        return answer(call, run(call, handler, false), null);
    }

    /** The same, for a handler that can also do without protection. */
    public <X extends Exception> HttpAnswer answer(HttpCall call, KeyedHandler<X> handler, Unprotected<X> unprotected)
            throws X {
        return answer(call, run(call, handler, false), settings.failOpen ? unprotected : null);
    }

    /** The same, for a handler that can run only once for a request: if its transaction gives way, the answer is 503. */
    public <X extends Exception> HttpAnswer answerOnce(
            HttpCall call, KeyedHandler<X> handler, Unprotected<X> unprotected) throws X {
        return answer(call, run(call, handler, true), settings.failOpen ? unprotected : null);
    }

    /**
     * The answer to a protected request whose effect is in another system.
     *
     * @throws X what the handler threw before an effect was possible; afterwards the answer is that the outcome is not known
     */
    public <X extends Exception> HttpAnswer answerLeased(HttpCall call, LeasedHandler<X> handler) throws X {
        return answer(
                call,
                new KeyedRun<X>(
                        settings,
                        call,
                        true,
                        (run, command) -> commands.<HttpAnswer, X>lease(
                                command, lease -> run.keep(lease, () -> handler.handle(call, lease)))),
                null);
    }

    private <X extends Exception> KeyedRun<X> run(HttpCall call, KeyedHandler<X> handler, boolean once) {
        return new KeyedRun<X>(
                settings,
                call,
                once,
                (run, command) -> commands.<HttpAnswer, X>run(
                        command, transaction -> run.keep(transaction, () -> handler.handle(call, transaction))));
    }

    private <X extends Exception> HttpAnswer answer(
            HttpCall call, KeyedRun<X> run, @Nullable Unprotected<X> unprotected) throws X {
        // adapters read one byte more than is allowed: nobody may see a body that is cut
        if (call.sharedBody().length > settings.largestRequest) {
            return problem(Problem.REQUEST_TOO_LARGE);
        }
        Optional<HttpAnswer> refusal = settings.check.apply(call);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        List<String> lines = call.headers().getOrDefault(KEY, List.of());
        if (lines.isEmpty()) {
            return missingKey();
        }
        String key = settings.syntax.read(lines);
        if (key == null) {
            return problem(Problem.INVALID_KEY);
        }
        Scope scope = Scope.of(call, settings);
        if (scope.problem() != null) {
            return challenged(scope.problem());
        }
        Command.Builder command = builder(scope, key, call);
        return isAcceptable(command) ? run.answer(command, codec, unprotected) : problem(Problem.SCOPE_UNRESOLVED);
    }

    private Command.Builder builder(Scope scope, String key, HttpCall call) {
        Command.Builder command = Command.named(settings.operation)
                .tenant(scope.tenant())
                .key(key)
                .fingerprint(Fingerprint.of(call))
                .with(defaults -> settings.options);
        return scope.caller() == null ? command.anyCaller() : command.caller(scope.caller());
    }

    /** The key was checked, so what remains is a tenant or a caller that cannot be one. */
    private boolean isAcceptable(Command.Builder command) {
        try {
            command.returning(codec);
            return true;
        } catch (InvalidCommandException e) {
            LOG.error("HTTP_IDEMPOTENCY_SCOPE operation={} problem={}", settings.operation, e.getMessage());
            return false;
        }
    }

    private HttpAnswer missingKey() {
        String documentation = settings.problems + Problem.MISSING_KEY.code();
        return problem(Problem.MISSING_KEY).header("Link", "<" + documentation + ">; rel=\"describedby\"");
    }

    private HttpAnswer challenged(Problem problem) {
        HttpAnswer answer = problem(problem);
        return settings.challenge != null && problem == Problem.NO_CALLER
                ? answer.header("WWW-Authenticate", settings.challenge)
                : answer;
    }

    /** What is answered when a handler failed and the server has no answer of its own for that. */
    HttpAnswer failed(Exception failure) {
        LOG.error("HTTP_IDEMPOTENCY_HANDLER_FAIL operation={}", settings.operation, failure);
        return problem(Problem.HANDLER_FAILED);
    }

    private HttpAnswer problem(Problem problem) {
        return problem.answer(settings.problems, null);
    }
}
