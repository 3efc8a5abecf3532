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
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How an HTTP operation treats the {@code Idempotency-Key} header: {@code
 * IdempotencyKey.required("payments.charge").around(commands, handler)}. The first request with a key does the work; whoever
 * repeats it gets its answer again. Each method returns a changed copy; every setting is checked when it is given.
 *
 * <p>A key belongs to a tenant, a caller and an operation. The caller is the authenticated principal unless said otherwise, and a
 * request without one is refused: put authentication and authorisation in front, so that they also run before a replay.
 *
 * <p>An answer is complete in memory, and its record committed together with the handler's work, before its first byte is sent; an
 * error while it is sent changes nothing. See {@code docs/http-idempotency.md} for what is answered when.
 *
 * <p>Immutable and thread-safe. The operation's name must not change while keys are kept.
 */
public final class IdempotencyKey {

    /** The attribute of an exchange or a request that holds its {@link dev.postrider.idempotency.CommandTransaction}. */
    public static final String TRANSACTION = "dev.postrider.transaction";

    /** The attribute by which a handler says that its answer is not to be kept, if set to {@code true}. */
    public static final String UNRECORDED = "dev.postrider.unrecorded";

    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

    private final KeySettings settings;

    private IdempotencyKey(KeySettings settings) {
        this.settings = settings;
    }

    /**
     * Requests without a key are refused.
     *
     * @param operation a stable name, such as {@code payments.charge}
     * @throws dev.postrider.idempotency.InvalidCommandException when it cannot be a name
     */
    public static IdempotencyKey required(String operation) {
        return named(operation, true);
    }

    /** Requests without a key are handled without protection. */
    public static IdempotencyKey optional(String operation) {
        return named(operation, false);
    }

    private static IdempotencyKey named(String operation, boolean required) {
        // finds a name that no command could have
        Command.named(operation).anyCaller().key("key").fingerprint("").returningNothing();
        return new IdempotencyKey(new KeySettings(operation, required));
    }

    /** Takes keys of PUT or DELETE too; without this they count for POST and PATCH, and are ignored elsewhere. */
    public IdempotencyKey alsoFor(String... methods) {
        return change(changed -> changed.addMethods(methods));
    }

    /** Who asks, instead of the principal; null refuses the request. Never take it from what the caller can choose freely. */
    public IdempotencyKey caller(Function<HttpCall, @Nullable String> caller) {
        Objects.requireNonNull(caller);
        return change(changed -> {
            changed.caller = caller;
            changed.anyCaller = false;
        });
    }

    /** Callers are not told apart: whoever knows a key gets its answer. */
    public IdempotencyKey anyCaller() {
        return change(changed -> changed.anyCaller = true);
    }

    /** Whose data it is about; null is an error of the server. Without this there is one tenant. */
    public IdempotencyKey tenant(Function<HttpCall, @Nullable String> tenant) {
        Objects.requireNonNull(tenant);
        return change(changed -> changed.tenant = tenant);
    }

    /** Takes keys in quotes only, as the draft says; without this, {@code k} and {@code "k"} are the same key. */
    public IdempotencyKey strict() {
        return change(KeySettings::chooseStrict);
    }

    /** Keys must be UUIDs. */
    public IdempotencyKey uuidKeys() {
        return change(changed -> changed.choosePattern(KeySyntax.UUID));
    }

    /**
     * Keys must be UUIDs of version 7 that are younger than what is remembered, so that no late retry can do the work twice.
     */
    public IdempotencyKey recentUuidV7Keys() {
        return change(changed -> {
            changed.choosePattern(KeySyntax.UUID_V7);
            changed.chooseOptions(Command.Options::refusingStaleKeys);
        });
    }

    /** Keys must match the whole pattern, and have at most 255 characters. */
    public IdempotencyKey keysMatching(Pattern pattern) {
        Objects.requireNonNull(pattern);
        return change(changed -> changed.choosePattern(pattern));
    }

    /** Keys must have so many characters. */
    public IdempotencyKey shortestKey(int length) {
        return change(changed -> changed.chooseShortest(length));
    }

    /**
     * Looks at a request before its key is: whatever it answers, such as a refusal of a request that is not valid, is sent, and
     * the key is left alone. The body is whole: a request larger than {@link #largestRequest} is refused before. Without this, a handler finds out under a key that is already taken.
     */
    public IdempotencyKey checkedBy(Function<HttpCall, Optional<HttpAnswer>> check) {
        Objects.requireNonNull(check);
        return change(changed -> changed.check = check);
    }

    /** The largest body of a request; 1 MiB unless said otherwise. It is held in memory. */
    public IdempotencyKey largestRequest(int bytes) {
        int checked = KeySettings.positive("idempotency-key.largest-request", bytes);
        return change(changed -> changed.largestRequest = checked);
    }

    /**
     * The largest body of an answer; 8 MiB unless said otherwise. A handler that writes more fails. A smaller one can still be
     * larger than what results may have in the database: it is sent, and repeats get its status and headers only.
     */
    public IdempotencyKey largestAnswer(int bytes) {
        int checked = KeySettings.positive("idempotency-key.largest-answer", bytes);
        return change(changed -> changed.largestAnswer = checked);
    }

    /**
     * Keeps further headers for repeats, besides Content-Type, Content-Encoding, Content-Language, Location, Content-Location,
     * ETag, Last-Modified and Link. Cookies, dates and challenges are refused.
     */
    public IdempotencyKey replaying(String... headers) {
        return change(changed -> changed.addReplayed(headers));
    }

    /** The header that marks a repeat, instead of {@code Idempotency-Replayed}. */
    public IdempotencyKey replayMarker(String header) {
        String checked = KeySettings.headerName("idempotency-key.replay-marker", header);
        return change(changed -> changed.replayMarker = checked);
    }

    /**
     * Lets clients that say {@code Prefer: wait=N} wait so long for a request that is in progress, instead of being told to come
     * back. Each holds a thread of the server; {@link dev.postrider.idempotency.CommandOptions} bounds their number.
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
     * Runs requests without protection while keys cannot be looked up, marked {@code Idempotency-Degraded: true}, instead of
     * answering 503. They may then be done twice. Not for handlers that need the command's transaction.
     */
    public IdempotencyKey failOpen() {
        return change(changed -> changed.failOpen = true);
    }

    /** Where problems are explained: their type is this with the code behind it, such as {@code missing-key}. */
    public IdempotencyKey documentedAt(URI base) {
        return change(changed -> changed.documentAt(base));
    }

    /** The {@code WWW-Authenticate} that goes with 401. */
    public IdempotencyKey challenge(String challenge) {
        HttpAnswer.of(401).header("WWW-Authenticate", challenge);
        return change(changed -> changed.challenge = challenge);
    }

    /** How commands are run: leases, and how long keys and results are kept. */
    public IdempotencyKey with(UnaryOperator<Command.Options> change) {
        Objects.requireNonNull(change);
        return change(changed -> changed.chooseOptions(change));
    }

    private IdempotencyKey change(Consumer<KeySettings> change) {
        KeySettings changed = settings.copy();
        change.accept(changed);
        return new IdempotencyKey(changed);
    }

    /** The operation without a server, for adapters. */
    public KeyedEndpoint endpoint(Commands commands) {
        return new KeyedEndpoint(settings, commands);
    }

    /**
     * The transaction of the command that this exchange is handled in, for a handler that is given to {@link #around(Commands,
     * HttpHandler)}: hand its connection to whatever reads and writes for the handler, so that all of it commits with the answer.
     *
     * @throws IllegalStateException when there is none: the request carries no key, or is handled without protection
     */
    public static CommandTransaction transaction(HttpExchange exchange) {
        if (exchange.getAttribute(TRANSACTION) instanceof CommandTransaction transaction) {
            return transaction;
        }
        throw new IllegalStateException("This exchange is not handled in the transaction of a command");
    }

    /**
     * A handler for the JDK's server around one that writes to an exchange. What it did in its {@link #transaction} commits with its
     * answer; what it did elsewhere does not, and is done again if this process dies in between. A connection is taken for that
     * transaction when the handler first uses it, so a handler with data access of its own holds one at a time. The handler must
     * answer before it returns.
     */
    public HttpHandler around(Commands commands, HttpHandler handler) {
        return JdkHandler.around(endpoint(commands), handler);
    }

    /**
     * A handler for the JDK's server around one that returns its answer. Other methods than those of this operation get 405.
     *
     * @throws InvalidConfigurationException when the key is optional, or {@link #failOpen()}: there is no transaction without it
     */
    public HttpHandler around(Commands commands, KeyedHandler<?> handler) {
        return JdkHandler.around(endpoint(commands), handler, notAllowed());
    }

    /** The same, with another handler for requests without a key and for other methods. */
    public HttpHandler around(Commands commands, KeyedHandler<?> handler, HttpHandler others) {
        return JdkHandler.around(endpoint(commands), handler, others);
    }

    /** A handler for the JDK's server around one whose effect is in another system. Other methods get 405. */
    public HttpHandler aroundLeased(Commands commands, LeasedHandler<?> handler) {
        return JdkHandler.aroundLeased(endpoint(commands), handler, notAllowed());
    }

    /** The same, with another handler for requests without a key and for other methods. */
    public HttpHandler aroundLeased(Commands commands, LeasedHandler<?> handler, HttpHandler others) {
        return JdkHandler.aroundLeased(endpoint(commands), handler, others);
    }

    private HttpHandler notAllowed() {
        if (!settings.required) {
            throw new InvalidConfigurationException(
                    "idempotency-key.optional",
                    "needs a handler for requests without a key: give it as the third argument");
        }
        HttpAnswer answer = Problem.METHOD_NOT_ALLOWED
                .answer(settings.problems, null)
                .header("Allow", String.join(", ", settings.methods));
        return exchange -> JdkHandler.send(exchange, answer);
    }

    @Override
    public String toString() {
        return "IdempotencyKey[" + settings.operation + "]";
    }
}
