package dev.postrider.contracts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.CommandWork;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.LeasedWork;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedResponse;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of the adapters for the {@code Idempotency-Key} header, tested over real HTTP. Tests with a display name are conformance
 * vectors; other implementations have them under the same names.
 */
@Timeout(180)
public abstract class IdempotencyKeyContract {

    /** A response header of the application: the adapter must mark this response as not to be recorded. */
    protected static final String UNRECORDED = "Test-Unrecorded";

    /** The request header with the user. The security layer of the tests trusts it; a request without it is anonymous. */
    protected static final String USER = "Test-User";

    /** The user that the security layer rejects with 403. */
    protected static final String BANNED = "banned";

    private static final String BODY = "{\"amount\":42}";

    /** The application behind an adapter. */
    @FunctionalInterface
    protected interface Application {
        KeyedResponse handle(String body, @Nullable CommandTransaction transaction) throws Exception;
    }

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final IdempotencyKey charge =
            IdempotencyKey.required("charge-" + UUID.randomUUID().toString().substring(0, 8));
    private final AtomicInteger runs = new AtomicInteger();
    private final Troubled commands = new Troubled();

    /** Serves the application at a new path, behind the adapter and a security layer that reads {@link #USER}. */
    protected abstract URI serve(IdempotencyKey key, Commands commands, Application application) throws Exception;

    /** The commands that store the keys. */
    protected abstract Commands commands();

    /** Simulates the passing of time for the stored keys. */
    protected abstract void advance(Duration time) throws Exception;

    /** Whether handlers of this adapter can run without a transaction. If not, the adapter must refuse the fail-open option. */
    protected boolean canFailOpen() {
        return true;
    }

    /** Delegates to {@link #commands()}, unless a test sets a fault or a scripted result. */
    private final class Troubled implements Commands {
        volatile boolean unavailable;
        final AtomicReference<@Nullable CommandResult<KeyedResponse>> scripted = new AtomicReference<>();

        private Commands real() {
            if (unavailable) {
                throw new StoreUnavailableException("Unavailable", new IllegalStateException("as the test asked"));
            }
            return commands();
        }

        @Override
        @SuppressWarnings("unchecked")
        public <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X {
            CommandResult<KeyedResponse> result = scripted.get();
            return result == null ? real().run(command, work) : (CommandResult<R>) result;
        }

        @Override
        public <R, X extends Exception> CommandResult<R> join(
                Connection connection, Command<R> command, CommandWork<R, X> work) throws X {
            return real().join(connection, command, work);
        }

        @Override
        public <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X {
            return real().lease(command, work);
        }
    }

    private KeyedResponse paid() {
        int run = runs.incrementAndGet();
        return KeyedResponse.json(201, "{\"run\":" + run + "}").header("Location", "/payments/" + run);
    }

    private URI serve(IdempotencyKey key) throws Exception {
        return serve(key, (body, transaction) -> paid());
    }

    private URI serve(IdempotencyKey key, Application application) throws Exception {
        return serve(key, commands, application);
    }

    private static HttpRequest request(String method, URI uri, @Nullable String key, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(150))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (Stream.of(headers).noneMatch(USER::equals)) {
            request.header(USER, "ada");
        }
        if (key != null) {
            request.header("Idempotency-Key", key);
        }
        return headers.length == 0 ? request.build() : request.headers(headers).build();
    }

    private HttpResponse<String> post(URI uri, @Nullable String key, String body, String... headers) throws Exception {
        return send(request("POST", uri, key, body, headers));
    }

    private HttpResponse<String> post(URI uri, @Nullable String key) throws Exception {
        return post(uri, key, BODY);
    }

    private HttpResponse<String> send(HttpRequest request) throws Exception {
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private CompletableFuture<HttpResponse<String>> postAsync(URI uri, String key, String... headers) {
        return client.sendAsync(request("POST", uri, key, BODY, headers), HttpResponse.BodyHandlers.ofString());
    }

    private static Optional<String> header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name);
    }

    private static void assertProblem(HttpResponse<String> response, int status, String code) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(header(response, "Content-Type")).hasValue("application/problem+json");
        assertThat(header(response, "Cache-Control")).hasValue("no-store");
        assertThat(response.body())
                .contains(
                        "\"code\":\"" + code + "\"", "\"status\":" + status, "\"type\":\"urn:postrider:problem:" + code)
                .containsPattern("\"retryable\":(true|false)")
                .containsPattern("\"safe_new_key\":(true|false)");
    }

    private static void assertReplayOf(HttpResponse<String> replay, HttpResponse<String> first) {
        assertThat(replay.statusCode()).isEqualTo(first.statusCode());
        assertThat(replay.body()).isEqualTo(first.body());
        assertThat(header(replay, "Content-Type")).isEqualTo(header(first, "Content-Type"));
        assertThat(header(replay, "Idempotency-Replayed")).hasValue("true");
    }

    /** An application that blocks until the test releases it. */
    private final class Gate implements Application {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);

        @Override
        public KeyedResponse handle(String body, @Nullable CommandTransaction transaction) throws InterruptedException {
            entered.countDown();
            if (!release.await(150, SECONDS)) {
                throw new IllegalStateException("the test did not release it");
            }
            return paid();
        }

        void awaitWork() throws InterruptedException {
            assertThat(entered.await(60, SECONDS)).isTrue();
        }
    }

    // The core vectors

    @Test
    @DisplayName("post-executes-once")
    void postExecutesOnce() throws Exception {
        URI uri = serve(charge);
        HttpResponse<String> response = post(uri, "k");
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.body()).isEqualTo("{\"run\":1}");
        assertThat(header(response, "Idempotency-Replayed")).isEmpty();
        assertThat(header(response, "Idempotency-Key")).hasValue("k");
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("retry-replays")
    void retryReplays() throws Exception {
        URI uri = serve(charge);
        HttpResponse<String> first = post(uri, "k");
        assertReplayOf(post(uri, "k"), first);
        assertReplayOf(post(uri, "k"), first);
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("concurrent-409")
    void concurrent409() throws Exception {
        Gate gate = new Gate();
        URI uri = serve(charge, gate);
        CompletableFuture<HttpResponse<String>> first = postAsync(uri, "k");
        gate.awaitWork();
        HttpResponse<String> second = post(uri, "k");
        gate.release.countDown();
        assertProblem(second, 409, "in-progress");
        assertThat(second.body()).contains("\"retryable\":true", "\"safe_new_key\":false", "\"operation_ref\":\"");
        assertThat(first.get().statusCode()).isEqualTo(201);
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("mismatch-422")
    void mismatch422() throws Exception {
        URI uri = serve(charge);
        post(uri, "k");
        HttpResponse<String> other = post(uri, "k", "{\"amount\":43}");
        assertProblem(other, 422, "key-reused");
        assertThat(other.body())
                .as("the first may have taken effect, and this may be the same request, written differently")
                .contains("\"safe_new_key\":false");
        assertProblem(post(URI.create(uri + "?currency=eur"), "k"), 422, "key-reused");
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("mismatch-does-not-poison")
    void mismatchDoesNotPoison() throws Exception {
        URI uri = serve(charge);
        HttpResponse<String> first = post(uri, "k");
        post(uri, "k", "{\"amount\":43}");
        assertReplayOf(post(uri, "k"), first);
    }

    @Test
    @DisplayName("key-missing-required")
    void keyMissingRequired() throws Exception {
        HttpResponse<String> response = post(serve(charge), null);
        assertProblem(response, 400, "missing-key");
        assertThat(header(response, "Link")).hasValue("<urn:postrider:problem:missing-key>; rel=\"describedby\"");
        assertThat(runs).hasValue(0);
    }

    @Test
    @DisplayName("sf-string-quoted-key")
    void sfStringQuotedKey() throws Exception {
        URI uri = serve(charge);
        HttpResponse<String> first = post(uri, "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"");
        assertReplayOf(post(uri, "8e03978e-40d5-43dd-bc93-6894a57f9324"), first);
        assertReplayOf(post(uri, "\"8e03978e-40d5-43dd-bc93-6894a57f9324\";v=1"), first);
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("header-name-case-insensitive")
    void headerNameCaseInsensitive() throws Exception {
        URI uri = serve(charge);
        HttpResponse<String> first = post(uri, null, BODY, "IDEMPOTENCY-KEY", "k");
        assertReplayOf(post(uri, null, BODY, "idempotency-key", "k"), first);
    }

    @Test
    @DisplayName("get-ignored")
    void getIgnored() throws Exception {
        URI uri = serve(charge);
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> response = send(HttpRequest.newBuilder(uri)
                    .header(USER, "ada")
                    .header("Idempotency-Key", "not a key")
                    .build());
            assertThat(response.statusCode()).isEqualTo(201);
            assertThat(header(response, "Idempotency-Replayed")).isEmpty();
        }
        assertThat(runs).hasValue(2);
    }

    @Test
    @DisplayName("two-keys-execute-twice")
    void twoKeysExecuteTwice() throws Exception {
        URI uri = serve(charge);
        assertThat(post(uri, "k").body()).isEqualTo("{\"run\":1}");
        assertThat(post(uri, "l").body()).isEqualTo("{\"run\":2}");
        assertThat(post(uri, "K").body()).isEqualTo("{\"run\":3}");
    }

    @Test
    @DisplayName("expiry-executes-again")
    void expiryExecutesAgain() throws Exception {
        URI uri = serve(charge);
        post(uri, "k");
        advance(Duration.ofHours(25));
        HttpResponse<String> response = post(uri, "k", "{\"amount\":43}");
        assertThat(response.body()).isEqualTo("{\"run\":2}");
        assertThat(header(response, "Idempotency-Replayed")).isEmpty();
    }

    // The vectors of the profile

    @Test
    @DisplayName("replayed-header")
    void replayedHeader() throws Exception {
        URI uri = serve(charge.replayMarker("Idempotent-Replayed"));
        assertThat(header(post(uri, "k"), "Idempotent-Replayed")).isEmpty();
        HttpResponse<String> replay = post(uri, "k");
        assertThat(header(replay, "Idempotent-Replayed")).hasValue("true");
        assertThat(header(replay, "Idempotency-Replayed")).isEmpty();
    }

    @Test
    @DisplayName("retry-after-on-409")
    void retryAfterOn409() throws Exception {
        Gate gate = new Gate();
        URI uri = serve(charge, gate);
        CompletableFuture<HttpResponse<String>> first = postAsync(uri, "k");
        gate.awaitWork();
        HttpResponse<String> second = post(uri, "k");
        gate.release.countDown();
        assertThat(header(second, "Retry-After"))
                .hasValueSatisfying(value -> assertThat(Integer.parseInt(value)).isBetween(1, 60));
        first.get();
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 502, 503})
    @DisplayName("5xx-not-stored")
    void serverErrorIsNotStored(int status) throws Exception {
        URI uri = serve(
                charge,
                (body, transaction) -> runs.incrementAndGet() == 1
                        ? KeyedResponse.text(status, "down")
                        : KeyedResponse.text(200, "up"));
        HttpResponse<String> first = post(uri, "k");
        assertThat(first.statusCode()).isEqualTo(status);
        assertThat(first.body()).isEqualTo("down");
        HttpResponse<String> second = post(uri, "k");
        assertThat(second.statusCode()).isEqualTo(200);
        assertThat(header(second, "Idempotency-Replayed")).isEmpty();
        assertReplayOf(post(uri, "k"), second);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 402, 409, 410, 412, 422})
    @DisplayName("4xx-replayed")
    void rejectionIsReplayed(int status) throws Exception {
        URI uri = serve(charge, (body, transaction) -> KeyedResponse.text(status, "no " + runs.incrementAndGet()));
        HttpResponse<String> first = post(uri, "k");
        assertThat(first.statusCode()).isEqualTo(status);
        assertThat(header(first, "Idempotency-Replayed")).isEmpty();
        assertReplayOf(post(uri, "k"), first);
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("empty-key-rejected")
    void emptyKeyRejected() throws Exception {
        URI uri = serve(charge);
        assertProblem(post(uri, ""), 400, "invalid-key");
        assertProblem(post(uri, "\"\""), 400, "invalid-key");
        assertThat(runs).hasValue(0);
    }

    @Test
    @DisplayName("key-too-long")
    void keyTooLong() throws Exception {
        URI uri = serve(charge);
        assertProblem(post(uri, "k".repeat(256)), 400, "invalid-key");
        assertThat(post(uri, "k".repeat(255)).statusCode()).isEqualTo(201);
    }

    @Test
    @DisplayName("omitted-body-replay")
    void omittedBodyReplay() throws Exception {
        // random bytes, which compression cannot make smaller
        byte[] noise = new byte[2 * 1024 * 1024];
        new Random(42).nextBytes(noise);
        String large = Base64.getEncoder().encodeToString(noise);
        URI uri = serve(charge, (body, transaction) -> {
            runs.incrementAndGet();
            return KeyedResponse.text(201, large)
                    .header("Location", "/reports/1")
                    .header("Content-Encoding", "identity");
        });
        assertThat(post(uri, "k").body()).isEqualTo(large);
        HttpResponse<String> replay = post(uri, "k");
        assertThat(replay.statusCode()).isEqualTo(201);
        assertThat(replay.body()).isEmpty();
        assertThat(header(replay, "Idempotency-Replayed")).hasValue("true");
        assertThat(header(replay, "Idempotency-Result")).hasValue("omitted");
        assertThat(header(replay, "Location")).hasValue("/reports/1");
        assertThat(header(replay, "Content-Encoding")).isEmpty();
        assertThat(runs).hasValue(1);
    }

    @Test
    @DisplayName("problem-content-type")
    void problemContentType() throws Exception {
        HttpResponse<String> response = post(serve(charge), null);
        assertThat(header(response, "Content-Type")).hasValue("application/problem+json");
        assertThat(header(response, "Content-Language")).hasValue("en");
    }

    @Test
    @DisplayName("problem-code-member")
    void problemCodeMember() throws Exception {
        URI uri = serve(charge.documentedAt(URI.create("https://example.org/problems#")));
        HttpResponse<String> response = post(uri, null);
        assertThat(response.body())
                .contains("\"code\":\"missing-key\"")
                .contains("\"type\":\"https://example.org/problems#missing-key\"");
        assertThat(header(response, "Link"))
                .hasValue("<https://example.org/problems#missing-key>; rel=\"describedby\"");
    }

    @Test
    void answerThatCouldNotBeSentAgainIsRefusedBeforeItIsKept() throws Exception {
        URI uri = serve(charge.replaying("X-Note"), (body, transaction) -> {
            int run = runs.incrementAndGet();
            String note = run == 1 ? "a\r\nX-Evil: 1" : "b";
            return KeyedResponse.of(201, Map.of("X-Note", List.of(note)), new byte[0]);
        });
        assertThat(post(uri, "k").statusCode()).isEqualTo(500);
        HttpResponse<String> second = post(uri, "k");
        assertThat(second.statusCode()).isEqualTo(201);
        assertThat(header(second, "X-Note")).hasValue("b");
        assertThat(header(post(uri, "k"), "X-Note")).hasValue("b");
        assertThat(runs).hasValue(2);
    }

    @Test
    void answerWithoutContentIsReplayed() throws Exception {
        URI uri = serve(charge, (body, transaction) -> {
            runs.incrementAndGet();
            return KeyedResponse.json(204, "{}");
        });
        HttpResponse<String> first = post(uri, "k");
        assertThat(first.statusCode()).isEqualTo(204);
        assertReplayOf(post(uri, "k"), first);
        assertThat(runs).hasValue(1);
    }

    // Keys

    @ParameterizedTest
    @ValueSource(strings = {"s3cr3t-k, s3cr3t-l", "\"s3cr3t-k", "s3cr3t k", "\"s3cr3t-k\";A", "acme;s3cr3t-1"})
    void malformedKeyIsRefusedAndNotRepeated(String key) throws Exception {
        HttpResponse<String> response = post(serve(charge), key);
        assertProblem(response, 400, "invalid-key");
        assertThat(response.body()).doesNotContain("s3cr3t");
        assertThat(response.headers().map().toString()).doesNotContain("s3cr3t");
        assertThat(runs).hasValue(0);
    }

    @Test
    void repeatedHeaderIsRefused() throws Exception {
        URI uri = serve(charge);
        assertProblem(post(uri, "k", BODY, "Idempotency-Key", "k"), 400, "invalid-key");
    }

    @Test
    void keyMustHaveTheFormOfTheOperation() throws Exception {
        URI uri = serve(charge.keysMatching(Pattern.compile("[0-9]+")).shortestKey(4));
        assertProblem(post(uri, "abcd"), 400, "invalid-key");
        assertProblem(post(uri, "123"), 400, "invalid-key");
        assertThat(post(uri, "1234").statusCode()).isEqualTo(201);
    }

    @Test
    void strictOperationTakesQuotedKeysOnly() throws Exception {
        URI uri = serve(charge.strict());
        assertProblem(post(uri, "k"), 400, "invalid-key");
        assertThat(post(uri, "\"k\"").statusCode()).isEqualTo(201);
    }

    @Test
    void optionalKeyMayBeMissing() throws Exception {
        IdempotencyKey optional = IdempotencyKey.optional("note-" + UUID.randomUUID());
        URI uri = serve(optional);
        assertThat(post(uri, null).body()).isEqualTo("{\"run\":1}");
        assertThat(post(uri, null).body()).isEqualTo("{\"run\":2}");
        HttpResponse<String> keyed = post(uri, "k");
        assertReplayOf(post(uri, "k"), keyed);
        assertThat(runs).hasValue(3);
    }

    @Test
    void putIsIgnoredUnlessAskedFor() throws Exception {
        URI plain = serve(charge);
        URI asked = serve(charge.alsoFor("PUT", "DELETE"));
        for (int i = 0; i < 2; i++) {
            send(request("PUT", plain, "k", BODY));
        }
        assertThat(runs).hasValue(2);
        HttpResponse<String> first = send(request("PUT", asked, "l", BODY));
        assertReplayOf(send(request("PUT", asked, "l", BODY)), first);
        assertThat(send(request("DELETE", asked, "m", BODY)).statusCode()).isEqualTo(201);
    }

    @Test
    void staleUuidIsNeverRun() throws Exception {
        URI uri = serve(charge.recentUuidV7Keys());
        assertProblem(post(uri, UUID.randomUUID().toString()), 400, "invalid-key");
        HttpResponse<String> stale = post(uri, "018f3c5e-40d5-73dd-bc93-6894a57f9324");
        assertProblem(stale, 400, "key-too-old");
        assertThat(stale.body()).contains("\"safe_new_key\":false");
        assertThat(runs).hasValue(0);
    }

    // Scope of keys

    @Test
    void twoCallersWithTheSameKeyKnowNothingOfEachOther() throws Exception {
        URI uri = serve(charge);
        post(uri, "k", BODY, USER, "ada");
        HttpResponse<String> other = post(uri, "k", "{\"amount\":43}", USER, "bob");
        assertThat(other.statusCode()).isEqualTo(201);
        assertThat(other.body()).isEqualTo("{\"run\":2}");
        assertThat(header(other, "Idempotency-Replayed")).isEmpty();
    }

    @Test
    void tenantsDoNotShareKeysEither() throws Exception {
        URI uri = serve(charge.tenant(call -> call.header("Test-Tenant")));
        post(uri, "k", BODY, "Test-Tenant", "acme");
        assertThat(post(uri, "k", BODY, "Test-Tenant", "globex").body()).isEqualTo("{\"run\":2}");
        assertThat(post(uri, "k", BODY, "Test-Tenant", "acme").body()).isEqualTo("{\"run\":1}");
    }

    @Test
    void callerWithoutANameHasNoKeys() throws Exception {
        URI uri = serve(charge.challenge("Basic realm=\"test\""));
        HttpResponse<String> response = post(uri, "k", BODY, USER, "");
        assertProblem(response, 401, "no-caller");
        assertThat(header(response, "WWW-Authenticate")).hasValue("Basic realm=\"test\"");
        assertThat(runs).hasValue(0);
    }

    @Test
    void anyCallerIsSaidExplicitly() throws Exception {
        URI uri = serve(charge.anyCaller());
        HttpResponse<String> first = post(uri, "k", BODY, USER, "");
        assertReplayOf(post(uri, "k", BODY, USER, "ada"), first);
    }

    @Test
    void scopeThatCannotBeToldIsAnErrorOfTheServer() throws Exception {
        URI none = serve(charge.tenant(call -> null));
        URI broken = serve(charge.caller(call -> {
            throw new IllegalStateException("as the test asked");
        }));
        URI unusable = serve(charge.caller(call -> "x".repeat(1000)));
        for (URI uri : List.of(none, broken, unusable)) {
            assertProblem(post(uri, "k"), 500, "scope-unresolved");
        }
        assertThat(runs).hasValue(0);
    }

    @Test
    void permissionIsAskedBeforeAReplay() throws Exception {
        URI uri = serve(charge.caller(call -> "the company"));
        assertThat(post(uri, "k", BODY, USER, "ada").statusCode()).isEqualTo(201);
        HttpResponse<String> revoked = post(uri, "k", BODY, USER, BANNED);
        assertThat(revoked.statusCode()).isEqualTo(403);
        assertThat(revoked.body()).doesNotContain("run");
        assertThat(header(revoked, "Idempotency-Replayed")).isEmpty();
    }

    // Recorded responses

    @Test
    void cookiesAreNeverReplayedWhileLocationIs() throws Exception {
        URI uri = serve(
                charge.replaying("Payment-Id"),
                (body, transaction) -> KeyedResponse.of(
                        201,
                        Map.of(
                                "Location", List.of("/payments/7"),
                                "Payment-Id", List.of("7"),
                                "Set-Cookie", List.of("session=secret"),
                                "Request-Id", List.of("1")),
                        new byte[0]));
        HttpResponse<String> first = post(uri, "k");
        assertThat(header(first, "Set-Cookie")).hasValue("session=secret");
        assertThat(header(first, "Request-Id")).hasValue("1");
        HttpResponse<String> replay = post(uri, "k");
        assertThat(header(replay, "Idempotency-Replayed")).hasValue("true");
        assertThat(header(replay, "Location")).hasValue("/payments/7");
        assertThat(header(replay, "Payment-Id")).hasValue("7");
        assertThat(header(replay, "Set-Cookie")).isEmpty();
        assertThat(header(replay, "Request-Id")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403, 404, 405, 406, 413, 415, 429})
    void refusalThatSaysNothingOfTheOperationIsNotStored(int status) throws Exception {
        URI uri = serve(
                charge,
                (body, transaction) -> runs.incrementAndGet() == 1
                        ? KeyedResponse.text(status, "not now")
                        : KeyedResponse.text(200, "now"));
        assertThat(post(uri, "k").statusCode()).isEqualTo(status);
        assertThat(post(uri, "k").statusCode()).isEqualTo(200);
    }

    @Test
    void handlerCanSayThatItsAnswerIsNotStored() throws Exception {
        URI uri = serve(
                charge,
                (body, transaction) -> runs.incrementAndGet() == 1
                        ? KeyedResponse.text(409, "not yet").header(UNRECORDED, "true")
                        : KeyedResponse.text(200, "now"));
        assertThat(post(uri, "k").statusCode()).isEqualTo(409);
        assertThat(post(uri, "k").statusCode()).isEqualTo(200);
    }

    @Test
    void requestThatIsNotValidDoesNotUseItsKey() throws Exception {
        URI uri = serve(charge.checkedBy(
                call -> call.body().length < 5 ? Optional.of(KeyedResponse.text(422, "too short")) : Optional.empty()));
        assertThat(post(uri, "k", "{}").body()).isEqualTo("too short");
        assertThat(post(uri, "k").statusCode()).isEqualTo(201);
        assertThat(runs).hasValue(1);
    }

    @Test
    void requestThatIsTooLargeIsRefusedBeforeItIsChecked() throws Exception {
        List<Integer> checked = new CopyOnWriteArrayList<>();
        URI uri = serve(charge.largestRequest(1000).checkedBy(call -> {
            checked.add(call.body().length);
            return Optional.empty();
        }));
        assertProblem(post(uri, "k", "x".repeat(2000)), 413, "request-too-large");
        assertThat(post(uri, "k", "x".repeat(1000)).statusCode()).isEqualTo(201);
        assertThat(checked).containsExactly(1000);
    }

    /** A client that gets no response repeats the request, and would do so forever. */
    @Test
    void responseToARequestThatIsMuchTooLargeArrives() throws Exception {
        URI uri = serve(charge.largestRequest(1000));
        String body = "x".repeat(5 << 20);
        for (int i = 0; i < 10; i++) {
            assertThat(post(uri, "k", body).statusCode()).isEqualTo(413);
        }
    }

    @Test
    void errorOfTheHandlerIsAnswered() throws Exception {
        URI uri = serve(charge, (body, transaction) -> {
            if (runs.incrementAndGet() == 1) {
                throw new AssertionError("as the test asked");
            }
            return KeyedResponse.text(200, "up");
        });
        assertThat(post(uri, "k").statusCode()).isEqualTo(500);
        assertThat(post(uri, "k").statusCode()).isEqualTo(200);
    }

    /** A part of its work may be committed: the response must not say that it was rolled back. */
    @Test
    void endOfTheHandlersTransactionIsAnUnknownOutcome() throws Exception {
        URI uri = serve(charge, (body, transaction) -> {
            throw new UnusableConnectionException(UnusableConnectionException.Problem.ENDED);
        });
        HttpResponse<String> response = post(uri, "k");
        assertThat(response.statusCode()).isEqualTo(409);
        assertThat(response.body())
                .contains("outcome-unknown", "operation_ref", "\"retryable\":false")
                .doesNotContain("rolled back");
    }

    @Test
    void encodingOfTheBodyIsReplayedWithIt() throws Exception {
        URI uri = serve(
                charge,
                (body, transaction) -> KeyedResponse.of(
                        201, Map.of("Content-Encoding", List.of("x-made-up")), "packed".getBytes(UTF_8)));
        assertThat(header(post(uri, "k"), "Content-Encoding")).hasValue("x-made-up");
        HttpResponse<String> replay = post(uri, "k");
        assertThat(replay.body()).isEqualTo("packed");
        assertThat(header(replay, "Content-Encoding")).hasValue("x-made-up");
    }

    @Test
    void exceptionIsNotStored() throws Exception {
        URI uri = serve(charge, (body, transaction) -> {
            if (runs.incrementAndGet() == 1) {
                throw new IllegalStateException("as the test asked");
            }
            return KeyedResponse.text(200, "up");
        });
        assertThat(post(uri, "k").statusCode()).isEqualTo(500);
        assertThat(post(uri, "k").body()).isEqualTo("up");
    }

    @Test
    void resultPastItsTimeIsNotRunAgain() throws Exception {
        URI uri = serve(
                charge.with(options -> options.resultTtl(Duration.ofHours(1)).keyTtl(Duration.ofDays(7))));
        post(uri, "k");
        advance(Duration.ofHours(2));
        HttpResponse<String> response = post(uri, "k");
        assertProblem(response, 409, "result-expired");
        assertThat(response.body()).contains("\"safe_new_key\":false", "\"retryable\":false");
        assertThat(runs).hasValue(1);
    }

    @Test
    void rejectionPastItsTimeIsNotRunAgainEither() throws Exception {
        IdempotencyKey briefly =
                charge.with(options -> options.resultTtl(Duration.ofHours(1)).keyTtl(Duration.ofDays(7)));
        URI uri = serve(briefly, (body, transaction) -> KeyedResponse.text(402, "no " + runs.incrementAndGet()));
        post(uri, "k");
        advance(Duration.ofHours(2));
        assertProblem(post(uri, "k"), 409, "result-expired");
        assertThat(runs).hasValue(1);
    }

    @Test
    void unknownOutcomeIsNotRunAgain() throws Exception {
        URI uri = serve(charge);
        UUID reference = UUID.randomUUID();
        commands.scripted.set(new CommandResult.Uncertain<>(reference));
        HttpResponse<String> response = post(uri, "k");
        assertProblem(response, 409, "outcome-unknown");
        assertThat(response.body()).contains("\"operation_ref\":\"" + reference + "\"", "\"retryable\":false");
        assertThat(header(response, "Retry-After")).isEmpty();
    }

    @Test
    void rejectionOfTheHandlerIsAnsweredWithItsReasonEveryTime() throws Exception {
        URI uri = serve(charge, (body, transaction) -> {
            runs.incrementAndGet();
            throw new CommandRejectedException("the card is blocked");
        });
        HttpResponse<String> first = post(uri, "k");
        assertProblem(first, 422, "rejected");
        assertThat(first.body())
                .contains("\"detail\":\"the card is blocked\"", "\"retryable\":false", "\"safe_new_key\":false");
        assertThat(header(first, "Idempotency-Replayed")).isEmpty();
        assertReplayOf(post(uri, "k"), first);
        assertThat(runs).hasValue(1);
    }

    @Test
    void rejectionOfTheHandlerCarriesAnAnswer() throws Exception {
        URI uri = serve(charge, (body, transaction) -> {
            throw new CommandRejectedException("no", KeyedResponse.text(402, "no " + runs.incrementAndGet()));
        });
        HttpResponse<String> first = post(uri, "k");
        assertThat(first.statusCode()).isEqualTo(402);
        assertThat(first.body()).isEqualTo("no 1");
        assertThat(header(first, "Idempotency-Replayed")).isEmpty();
        assertReplayOf(post(uri, "k"), first);
        assertThat(runs).hasValue(1);
    }

    @Test
    void answerThatLeftNothingBehindIsNotRunAgain() throws Exception {
        URI uri = serve(charge);
        commands.scripted.set(new CommandResult.ResultOmitted<>(UUID.randomUUID(), true));
        assertProblem(post(uri, "k"), 409, "result-omitted");
        assertThat(runs).hasValue(0);
    }

    // Concurrent requests

    @Test
    void otherRequestUnderAKeyInProgressIsAMismatch() throws Exception {
        Gate gate = new Gate();
        URI uri = serve(charge, gate);
        CompletableFuture<HttpResponse<String>> first = postAsync(uri, "k");
        gate.awaitWork();
        HttpResponse<String> other = post(uri, "k", "{\"amount\":43}");
        gate.release.countDown();
        assertProblem(other, 422, "key-reused");
        assertThat(first.get().statusCode()).isEqualTo(201);
    }

    @Test
    void clientThatPrefersToWaitGetsTheAnswer() throws Exception {
        Gate gate = new Gate();
        URI uri = serve(charge.waitingAtMost(Duration.ofSeconds(60)), gate);
        CompletableFuture<HttpResponse<String>> first = postAsync(uri, "k");
        gate.awaitWork();
        CompletableFuture<HttpResponse<String>> patient = postAsync(uri, "k", "Prefer", "wait=600");
        gate.release.countDown();
        assertThat(first.get().statusCode()).isEqualTo(201);
        assertThat(patient.get().statusCode()).isEqualTo(201);
        assertThat(patient.get().body()).isEqualTo(first.get().body());
        assertThat(header(patient.get(), "Idempotency-Replayed")).hasValue("true");
        assertThat(runs).hasValue(1);
    }

    @Test
    void clientThatPrefersToWaitIsToldWhatItGot() throws Exception {
        Gate gate = new Gate();
        URI uri = serve(charge.waitingAtMost(Duration.ofSeconds(1)), gate);
        CompletableFuture<HttpResponse<String>> first = postAsync(uri, "k");
        gate.awaitWork();
        HttpResponse<String> patient = post(uri, "k", BODY, "Prefer", "wait=600");
        HttpResponse<String> impatient = post(uri, "k", BODY);
        gate.release.countDown();
        assertProblem(patient, 409, "in-progress");
        assertThat(header(patient, "Preference-Applied")).hasValue("wait=1");
        assertThat(header(impatient, "Preference-Applied")).isEmpty();
        first.get();
    }

    @Test
    void operationThatDoesNotWaitAnswersAtOnce() throws Exception {
        Gate gate = new Gate();
        URI uri = serve(charge, gate);
        CompletableFuture<HttpResponse<String>> first = postAsync(uri, "k");
        gate.awaitWork();
        HttpResponse<String> second = post(uri, "k", BODY, "Prefer", "wait=600");
        gate.release.countDown();
        assertProblem(second, 409, "in-progress");
        assertThat(header(second, "Preference-Applied")).isEmpty();
        first.get();
    }

    /** The running request is released only after all others have their response. */
    @Test
    void stormOfOneRequestHasOneEffect() throws Exception {
        int size = 500;
        Gate gate = new Gate();
        URI uri = serve(charge, gate);
        CountDownLatch others = new CountDownLatch(size - 1);
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            // a server may close an idle connection while a request is sent: then the request is sent again with its
            // key
            CompletableFuture<HttpResponse<String>> one =
                    postAsync(uri, "k").exceptionallyCompose(lost -> postAsync(uri, "k"));
            all.add(one.whenComplete((response, failure) -> others.countDown()));
        }
        assertThat(others.await(120, SECONDS)).isTrue();
        gate.release.countDown();
        List<Integer> statuses = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> one : all) {
            statuses.add(one.get().statusCode());
        }
        assertThat(statuses).containsOnlyOnce(201);
        assertThat(statuses.stream().filter(status -> status == 409)).hasSize(size - 1);
        assertThat(runs).hasValue(1);
        assertThat(header(post(uri, "k"), "Idempotency-Replayed")).hasValue("true");
    }

    // Faults

    @Test
    void storeThatIsNotThereClosesTheOperation() throws Exception {
        URI uri = serve(charge);
        commands.unavailable = true;
        HttpResponse<String> response = post(uri, "k");
        assertProblem(response, 503, "store-unavailable");
        assertThat(header(response, "Retry-After")).isPresent();
        assertThat(response.body()).contains("\"retryable\":true", "\"safe_new_key\":false");
        assertThat(runs).hasValue(0);
    }

    @Test
    void operationCanStayOpenWithoutItsStore() throws Exception {
        if (!canFailOpen()) {
            assertThatThrownBy(() -> serve(charge.failOpen())).isInstanceOf(InvalidConfigurationException.class);
            return;
        }
        URI uri = serve(charge.failOpen(), (body, transaction) -> {
            assertThat(transaction == null).isEqualTo(commands.unavailable);
            return paid();
        });
        commands.unavailable = true;
        HttpResponse<String> degraded = post(uri, "k");
        assertThat(degraded.statusCode()).isEqualTo(201);
        assertThat(header(degraded, "Idempotency-Degraded")).hasValue("true");
        commands.unavailable = false;
        HttpResponse<String> first = post(uri, "k");
        assertThat(header(first, "Idempotency-Degraded")).isEmpty();
        assertReplayOf(post(uri, "k"), first);
    }

    @Test
    void largeRequestIsRefusedBeforeItsKeyIsTaken() throws Exception {
        URI uri = serve(charge.largestRequest(1000));
        HttpResponse<String> large = post(uri, "k", "x".repeat(1001));
        assertProblem(large, 413, "request-too-large");
        assertThat(post(uri, "k", "x".repeat(1000)).statusCode()).isEqualTo(201);
    }

    @Test
    void answerBeyondTheLimitIsRefused() throws Exception {
        URI uri = serve(
                charge.largestAnswer(1000),
                (body, transaction) -> KeyedResponse.text(200, "x".repeat(runs.incrementAndGet() == 1 ? 1001 : 1000)));
        assertProblem(post(uri, "k"), 500, "answer-not-recordable");
        assertThat(post(uri, "k").statusCode()).isEqualTo(200);
    }

    /** Without the store the work of the handler is not rolled back. */
    @Test
    void answerBeyondTheLimitWithoutTheStoreIsNoRollback() throws Exception {
        if (!canFailOpen()) {
            return;
        }
        URI uri = serve(
                charge.failOpen().largestAnswer(1000),
                (body, transaction) -> KeyedResponse.text(200, "x".repeat(1001)));
        commands.unavailable = true;
        HttpResponse<String> response = post(uri, "k");
        assertProblem(response, 500, "answer-not-recordable");
        assertThat(header(response, "Idempotency-Degraded")).hasValue("true");
        assertThat(response.body()).contains("not rolled back");
    }

    @Test
    void streamIsRefused() throws Exception {
        URI uri = serve(
                charge,
                (body, transaction) -> KeyedResponse.text(200, "data: x").header("Content-Type", "text/event-stream"));
        assertProblem(post(uri, "k"), 500, "answer-not-recordable");
    }

    @Test
    void bodyThatIsCutOffIsNotARequest() throws Exception {
        URI uri = serve(charge);
        try (Socket socket = rawPost(uri, BODY.length(), BODY.substring(0, 5))) {
            socket.shutdownOutput();
            // the response does not matter: it is complete when the connection ends
            socket.getInputStream().readAllBytes();
        }
        assertThat(runs).hasValue(0);
        assertThat(post(uri, "k", "{\"amount\":43}").statusCode()).isEqualTo(201);
    }

    @Test
    void clientThatGoesAwayDoesNotReleaseItsKey() throws Exception {
        Gate gate = new Gate();
        URI uri = serve(charge.waitingAtMost(Duration.ofSeconds(60)), gate);
        try (Socket socket = rawPost(uri, BODY.length(), BODY)) {
            gate.awaitWork();
            socket.setSoLinger(true, 0);
        }
        assertProblem(post(uri, "k"), 409, "in-progress");
        CompletableFuture<HttpResponse<String>> retry = postAsync(uri, "k", "Prefer", "wait=60");
        gate.release.countDown();
        assertThat(retry.get().statusCode()).isEqualTo(201);
        assertThat(header(retry.get(), "Idempotency-Replayed")).hasValue("true");
        assertThat(runs).hasValue(1);
    }

    private static Socket rawPost(URI uri, int length, String body) throws Exception {
        Socket socket = new Socket(uri.getHost(), uri.getPort());
        OutputStream out = socket.getOutputStream();
        out.write(("POST " + uri.getPath() + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + USER
                        + ": ada\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: " + length
                        + "\r\n\r\n")
                .getBytes(US_ASCII));
        out.write(body.getBytes(UTF_8));
        out.flush();
        return socket;
    }
}
