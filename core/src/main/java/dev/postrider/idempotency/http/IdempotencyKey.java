package dev.postrider.idempotency.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of the {@code Idempotency-Key} header for one HTTP operation: {@code
 * IdempotencyKey.required("payments.charge").around(commands, handler)}. The first request with a key runs the handler.
 * Retries with the same key get the stored response. Each method returns a changed copy and validates its setting.
 *
 * <p>A key belongs to a tenant, a caller and an operation. The default caller is the authenticated principal. A request
 * without a caller is refused. Place authentication and authorisation in front, so that they also run before a replay.
 *
 * <p>A response is complete in memory, and its record is committed together with the work of the handler, before the
 * first byte is sent. An error while the response is sent does not change the record. {@code docs/http-idempotency.md}
 * lists all responses.
 *
 * <p>Immutable and thread-safe. The name of the operation must not change while keys are stored.
 */
public final class IdempotencyKey {

    /**
     * The attribute of an exchange or a request that contains its {@link dev.postrider.idempotency.CommandTransaction}.
     */
    public static final String TRANSACTION = "dev.postrider.transaction";

    /** The attribute that a handler sets to {@code true} if its response must not be stored. */
    public static final String UNRECORDED = "dev.postrider.unrecorded";

    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

    private final KeySettings settings;

    private IdempotencyKey(KeySettings settings) {
        this.settings = settings;
    }

    /**
     * Refuses requests without a key.
     *
     * @param operation a stable name, such as {@code payments.charge}
     * @throws dev.postrider.idempotency.InvalidCommandException when the name is invalid
     */
    public static IdempotencyKey required(String operation) {
        return named(operation, true);
    }

    /** Handles requests without a key, but without protection. */
    public static IdempotencyKey optional(String operation) {
        return named(operation, false);
    }

    private static IdempotencyKey named(String operation, boolean required) {
        // validates the name of the operation
        Command.named(operation).anyCaller().key("key").fingerprint("").returningNothing();
        return new IdempotencyKey(new KeySettings(operation, required));
    }

    /**
     * Accepts keys also for PUT or DELETE. The default methods are POST and PATCH; the key is ignored for other
     * methods.
     */
    public IdempotencyKey alsoFor(String... methods) {
        return change(changed -> changed.addMethods(methods));
    }

    /**
     * Sets a function that returns the caller, instead of the principal. Null refuses the request. Never use a value
     * that the client can choose freely.
     */
    public IdempotencyKey caller(Function<KeyedRequest, @Nullable String> caller) {
        Objects.requireNonNull(caller);
        return change(changed -> {
            changed.caller = caller;
            changed.anyCaller = false;
        });
    }

    /** Lets all callers share keys: every client that sends a key gets its response. */
    public IdempotencyKey anyCaller() {
        return change(changed -> changed.anyCaller = true);
    }

    /**
     * Sets a function that returns the tenant. Null causes a server error. Without this setting there is one tenant.
     */
    public IdempotencyKey tenant(Function<KeyedRequest, @Nullable String> tenant) {
        Objects.requireNonNull(tenant);
        return change(changed -> changed.tenant = tenant);
    }

    /**
     * Accepts only keys in quotes, as the draft requires. Without this setting {@code k} and {@code "k"} are the same
     * key.
     */
    public IdempotencyKey strict() {
        return change(KeySettings::chooseStrict);
    }

    /** Accepts only UUIDs as keys. */
    public IdempotencyKey uuidKeys() {
        return change(changed -> changed.choosePattern(KeySyntax.UUID));
    }

    /**
     * Accepts only UUIDs of version 7 that are younger than the retention of keys, so that a late retry cannot run the
     * handler twice.
     */
    public IdempotencyKey recentUuidV7Keys() {
        return change(changed -> {
            changed.choosePattern(KeySyntax.UUID_V7);
            changed.chooseOptions(Command.Options.Builder::onlyRecentUuidV7Keys);
        });
    }

    /** Accepts only keys that match the whole pattern and have at most 255 characters. */
    public IdempotencyKey keysMatching(Pattern pattern) {
        Objects.requireNonNull(pattern);
        return change(changed -> changed.choosePattern(pattern));
    }

    /** Sets the minimum number of characters of a key. */
    public IdempotencyKey shortestKey(int length) {
        return change(changed -> changed.chooseShortest(length));
    }

    /**
     * Sets a check that runs before the key is read. If the check returns a response, for example because the request
     * is invalid, that response is sent and the key stays unused. The check sees the whole body, because a request
     * larger than {@link #largestRequest} is refused before. Without a check the handler finds such errors when the key
     * is already claimed.
     */
    public IdempotencyKey checkedBy(Function<KeyedRequest, Optional<KeyedResponse>> check) {
        Objects.requireNonNull(check);
        return change(changed -> changed.check = check);
    }

    /** Sets the size limit for the body of a request; the default is 1 MiB. The body is kept in memory. */
    public IdempotencyKey largestRequest(int bytes) {
        int checked = KeySettings.positive("idempotency-key.largest-request", bytes);
        return change(changed -> changed.largestRequest = checked);
    }

    /**
     * Sets the size limit for the body of a response; the default is 8 MiB. A handler that writes more fails. A smaller
     * body can still exceed the size limit of stored results: then the response is sent in full, and retries get only
     * its status and headers.
     */
    public IdempotencyKey largestAnswer(int bytes) {
        int checked = KeySettings.positive("idempotency-key.largest-answer", bytes);
        return change(changed -> changed.largestAnswer = checked);
    }

    /**
     * Stores and replays further headers, besides Content-Type, Content-Encoding, Content-Language, Location,
     * Content-Location, ETag, Last-Modified and Link. Cookies, dates and challenges are refused.
     */
    public IdempotencyKey replaying(String... headers) {
        return change(changed -> changed.addReplayed(headers));
    }

    /** Sets the header that marks a replay, instead of {@code Idempotency-Replayed}. */
    public IdempotencyKey replayMarker(String header) {
        String checked = KeySettings.headerName("idempotency-key.replay-marker", header);
        return change(changed -> changed.replayMarker = checked);
    }

    /**
     * Sets how long a client that sends {@code Prefer: wait=N} may wait for a request that is in progress. Without this
     * setting it gets the response 409 at once. Each waiting client occupies a thread of the server; {@link
     * dev.postrider.idempotency.CommandOptions} limits their number.
     */
    public IdempotencyKey waitingAtMost(Duration wait) {
        if (wait.compareTo(Duration.ofSeconds(1)) < 0 || wait.compareTo(LONGEST_WAIT) > 0) {
            throw new InvalidConfigurationException(
                    "idempotency-key.waiting-at-most",
                    "must lie between 1 second and " + LONGEST_WAIT.toMinutes() + " minutes");
        }
        return change(changed -> changed.longestWait = wait);
    }

    /**
     * Handles requests without protection while the store of keys is unavailable, instead of the response 503. Such
     * responses have the header {@code Idempotency-Degraded: true}, and their requests may take effect twice. Not for
     * handlers that need the transaction of the command.
     */
    public IdempotencyKey failOpen() {
        return change(changed -> changed.failOpen = true);
    }

    /** Sets the base URL of the problem types. A problem code such as {@code missing-key} is appended to it. */
    public IdempotencyKey documentedAt(URI base) {
        return change(changed -> changed.documentAt(base));
    }

    /** Sets the {@code WWW-Authenticate} header of the response 401. */
    public IdempotencyKey challenge(String challenge) {
        KeyedResponse.of(401).header("WWW-Authenticate", challenge);
        return change(changed -> changed.challenge = challenge);
    }

    /** Changes the options of the commands: leases, and the retention of keys and results. */
    public IdempotencyKey with(Consumer<Command.Options.Builder> change) {
        Objects.requireNonNull(change);
        return change(changed -> changed.chooseOptions(change));
    }

    private IdempotencyKey change(Consumer<KeySettings> change) {
        KeySettings changed = settings.copy();
        change.accept(changed);
        return new IdempotencyKey(changed);
    }

    /** The operation without an HTTP server, for adapters. */
    public KeyedEndpoint endpoint(Commands commands) {
        return new KeyedEndpoint(settings, commands);
    }

    /**
     * The transaction of the command for this exchange, in a handler that is passed to {@link #around(Commands,
     * HttpHandler)}. Use its connection for all reads and writes of the handler, so that they commit together with the
     * response.
     *
     * @throws IllegalStateException when there is no transaction: the request has no key, or is handled without
     *     protection
     */
    public static CommandTransaction transaction(HttpExchange exchange) {
        if (exchange.getAttribute(TRANSACTION) instanceof CommandTransaction transaction) {
            return transaction;
        }
        throw new IllegalStateException("This exchange is not handled in the transaction of a command");
    }

    /**
     * Wraps a handler that writes to an exchange of the JDK's HTTP server. Writes in its {@link #transaction} commit
     * together with the response. Other effects do not, and happen again if this process dies before the commit. The
     * transaction takes its connection when the handler first uses it, so a handler with its own data access uses one
     * connection at a time. The handler must send its response before it returns.
     */
    public HttpHandler around(Commands commands, HttpHandler handler) {
        return JdkHandler.around(endpoint(commands), handler);
    }

    /**
     * Wraps a handler that returns its response, for the JDK's HTTP server. Requests with a method that this operation
     * does not support get 405.
     *
     * @throws InvalidConfigurationException when the key is optional, or {@link #failOpen()} is set: without a key or
     *     the store there is no transaction
     */
    public HttpHandler around(Commands commands, KeyedHandler<?> handler) {
        return JdkHandler.around(endpoint(commands), handler, notAllowed());
    }

    /**
     * Like {@link #around(Commands, KeyedHandler)}, with another handler for requests without a key and for other
     * methods.
     */
    public HttpHandler around(Commands commands, KeyedHandler<?> handler, HttpHandler others) {
        return JdkHandler.around(endpoint(commands), handler, others);
    }

    /** Wraps a handler whose effect is in another system, for the JDK's HTTP server. Other methods get 405. */
    public HttpHandler aroundLeased(Commands commands, LeasedHandler<?> handler) {
        return JdkHandler.aroundLeased(endpoint(commands), handler, notAllowed());
    }

    /**
     * Like {@link #aroundLeased(Commands, LeasedHandler)}, with another handler for requests without a key and for
     * other methods.
     */
    public HttpHandler aroundLeased(Commands commands, LeasedHandler<?> handler, HttpHandler others) {
        return JdkHandler.aroundLeased(endpoint(commands), handler, others);
    }

    private HttpHandler notAllowed() {
        if (!settings.required) {
            throw new InvalidConfigurationException(
                    "idempotency-key.optional",
                    "needs a handler for requests without a key: pass it as the third argument");
        }
        KeyedResponse answer = HttpProblem.METHOD_NOT_ALLOWED
                .answer(settings.problems, null)
                .header("Allow", String.join(", ", settings.methods));
        return exchange -> JdkHandler.send(exchange, answer);
    }

    @Override
    public String toString() {
        return "IdempotencyKey[" + settings.operation + "]";
    }
}
