package dev.postrider.idempotency.http;

import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.InvalidCommandException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operation with keys, independent of the HTTP server. An adapter asks whether a request is protected, reads its
 * body, and sends the response that it gets, in this order. It must not send anything before. Thread-safe.
 *
 * <p>The order of the checks is part of the contract: size, {@link IdempotencyKey#checkedBy}, syntax of the key, caller
 * and tenant, then age of the key, fingerprint, state and lease by the row in the store.
 */
public final class KeyedEndpoint {

    /** How many bytes of a body that is too large are read and dropped before the response. */
    private static final long MOST_DROPPED = 64L << 20;

    static final String KEY = "Idempotency-Key";

    private static final Logger LOG = LoggerFactory.getLogger(KeyedEndpoint.class);

    private final KeySettings settings;
    private final Commands commands;
    private final ResponseCodec codec;

    KeyedEndpoint(KeySettings settings, Commands commands) {
        this.settings = settings;
        this.commands = Objects.requireNonNull(commands);
        this.codec = new ResponseCodec(settings.replayed);
    }

    /**
     * Handles a request without protection while the store is unavailable, if the operation has {@linkplain
     * IdempotencyKey#failOpen() failOpen}.
     */
    @FunctionalInterface
    public interface Unprotected<X extends Exception> {

        KeyedResponse handle(KeyedRequest call) throws X;
    }

    /** Whether a request is protected. If not, pass it on unchanged, with its body unread. */
    public boolean appliesTo(KeyedRequest call) {
        return settings.methods.contains(call.method()) && (settings.required || call.header(KEY) != null);
    }

    /** The number of bytes that {@link #read} returns at most: one byte more than the size limit. */
    public int readLimit() {
        return settings.largestRequest + 1;
    }

    /**
     * Reads a body up to the read limit. The rest of a larger body is read and dropped, up to 64 MiB: otherwise the
     * server would close the connection, and the client would lose the response.
     */
    public byte[] read(InputStream body) throws IOException {
        byte[] read = body.readNBytes(readLimit());
        if (read.length == readLimit()) {
            drop(body);
        }
        return read;
    }

    private static void drop(InputStream body) throws IOException {
        byte[] buffer = new byte[8192];
        long dropped = 0;
        int count = 0;
        while (count >= 0 && dropped < MOST_DROPPED) {
            dropped += count;
            count = body.read(buffer); // a server may not count what is skipped
        }
    }

    /** A new buffer for the response of a handler that writes to a stream. */
    public ResponseBuffer buffer() {
        return new ResponseBuffer(settings.largestAnswer);
    }

    boolean failsOpen() {
        return settings.failOpen;
    }

    /**
     * Runs the handler for a protected request and returns the response to send unchanged. The record is committed when
     * this method returns, so an error while the response is sent does not change it. If the database aborts the
     * transaction in favour of another, the handler runs again: up to three runs in total, or one run if {@link
     * Command.Options#maxAttempts()} is set.
     *
     * @throws X the exception of the handler; its work is rolled back, and a retry with the same key can run
     */
    public <X extends Exception> KeyedResponse answer(KeyedRequest call, KeyedHandler<X> handler) throws X {
        return answer(call, run(call, handler, false), null);
    }

    /** Like {@link #answer(KeyedRequest, KeyedHandler)}, for a handler that can also run without protection. */
    public <X extends Exception> KeyedResponse answer(
            KeyedRequest call, KeyedHandler<X> handler, Unprotected<X> unprotected) throws X {
        return answer(call, run(call, handler, false), settings.failOpen ? unprotected : null);
    }

    /**
     * Like {@link #answer(KeyedRequest, KeyedHandler, Unprotected)}, for a handler that can run only once per request.
     * If its transaction is aborted by a conflict, the response is 503.
     */
    public <X extends Exception> KeyedResponse answerOnce(
            KeyedRequest call, KeyedHandler<X> handler, Unprotected<X> unprotected) throws X {
        return answer(call, run(call, handler, true), settings.failOpen ? unprotected : null);
    }

    /**
     * Runs a handler whose effect is in another system and returns the response to send.
     *
     * @throws X the exception of the handler before an external effect was possible; after that the response is that
     *     the outcome is not known
     */
    public <X extends Exception> KeyedResponse answerLeased(KeyedRequest call, LeasedHandler<X> handler) throws X {
        return answer(
                call,
                new KeyedRun<X>(
                        settings,
                        call,
                        true,
                        (run, command) -> commands.<KeyedResponse, X>lease(
                                command, lease -> run.keep(lease, () -> handler.handle(call, lease)))),
                null);
    }

    private <X extends Exception> KeyedRun<X> run(KeyedRequest call, KeyedHandler<X> handler, boolean once) {
        return new KeyedRun<X>(
                settings,
                call,
                once,
                (run, command) -> commands.<KeyedResponse, X>run(
                        command, transaction -> run.keep(transaction, () -> handler.handle(call, transaction))));
    }

    private <X extends Exception> KeyedResponse answer(
            KeyedRequest call, KeyedRun<X> run, @Nullable Unprotected<X> unprotected) throws X {
        // adapters read one byte more than the limit: no code may see a truncated body
        if (call.sharedBody().length > settings.largestRequest) {
            return problem(HttpProblem.REQUEST_TOO_LARGE);
        }
        Optional<KeyedResponse> refusal = settings.check.apply(call);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        List<String> lines = call.headers().getOrDefault(KEY, List.of());
        if (lines.isEmpty()) {
            return missingKey();
        }
        String key = settings.syntax.read(lines);
        if (key == null) {
            return problem(HttpProblem.INVALID_KEY);
        }
        Scope scope = Scope.of(call, settings);
        if (scope.problem() != null) {
            return challenged(scope.problem());
        }
        Command.Builder command = builder(scope, key, call);
        return isAcceptable(command) ? run.answer(command, codec, unprotected) : problem(HttpProblem.SCOPE_UNRESOLVED);
    }

    private Command.Builder builder(Scope scope, String key, KeyedRequest call) {
        Command.Builder command = Command.named(settings.operation)
                .tenant(scope.tenant())
                .key(key)
                .fingerprint(HttpFingerprint.of(call))
                .options(settings.options);
        return scope.caller() == null ? command.anyCaller() : command.caller(scope.caller());
    }

    /** Validates the tenant and the caller. The key is already validated. */
    private boolean isAcceptable(Command.Builder command) {
        try {
            command.returning(codec);
            return true;
        } catch (InvalidCommandException e) {
            LOG.error("HTTP_IDEMPOTENCY_SCOPE operation={} problem={}", settings.operation, e.getMessage());
            return false;
        }
    }

    private KeyedResponse missingKey() {
        String documentation = settings.problems + HttpProblem.MISSING_KEY.code();
        return problem(HttpProblem.MISSING_KEY).header("Link", "<" + documentation + ">; rel=\"describedby\"");
    }

    private KeyedResponse challenged(HttpProblem problem) {
        KeyedResponse answer = problem(problem);
        return settings.challenge != null && problem == HttpProblem.NO_CALLER
                ? answer.header("WWW-Authenticate", settings.challenge)
                : answer;
    }

    /** The response after a failure of the handler, for a server without an error response of its own. */
    KeyedResponse failed(Throwable failure) {
        LOG.error("HTTP_IDEMPOTENCY_HANDLER_FAIL operation={}", settings.operation, failure);
        return problem(HttpProblem.HANDLER_FAILED);
    }

    private KeyedResponse problem(HttpProblem problem) {
        return problem.answer(settings.problems, null);
    }
}
