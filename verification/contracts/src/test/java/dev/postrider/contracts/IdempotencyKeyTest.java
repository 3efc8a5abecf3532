package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedResponse;
import dev.postrider.idempotency.http.LeasedHandler;
import dev.postrider.message.Message;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The adapter for the JDK's server over keys in a database, with a pool of ten connections; each run of a handler leaves a row. */
@ParameterizedClass(name = "{0}")
@EnumSource(
        value = Engine.class,
        names = {"H2", "POSTGRESQL_18", "MARIADB_11_4", "MYSQL_8_0"})
final class IdempotencyKeyTest extends IdempotencyKeyContract {

    private final Engine engine;
    private final List<AutoCloseable> opened = new ArrayList<>();
    private @Nullable HikariDataSource pool;
    private @Nullable Postrider postrider;
    private @Nullable JdkServer server;

    IdempotencyKeyTest(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void open() throws Exception {
        pool();
        server = opened(new JdkServer());
        Postrider node = opened(Postrider.on(pool())
                .topic("payments")
                // times are moved in the rows, which a cache would not see
                .commands(options -> options.cacheBytes(0))
                .build());
        node.migrate();
        execute("CREATE TABLE effect (id VARCHAR(36) PRIMARY KEY)");
        postrider = node;
    }

    private <T extends AutoCloseable> T opened(T closeable) {
        opened.add(0, closeable);
        return closeable;
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : opened) {
            closeable.close();
        }
    }

    private HikariDataSource pool() {
        if (pool == null) {
            Database database = Databases.assumeStarted(engine).createDatabase("keys");
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(database.jdbcUrl());
            config.setUsername(database.user());
            config.setPassword(database.password());
            config.setMaximumPoolSize(10);
            config.setMinimumIdle(1);
            pool = opened(new HikariDataSource(config));
        }
        return pool;
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = pool().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long count(String table) throws SQLException {
        try (Connection connection = pool().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    protected Commands commands() {
        if (postrider == null) {
            throw new IllegalStateException("not open");
        }
        return postrider.commands();
    }

    @Override
    protected void advance(Duration time) {
        new DatabaseClock(pool()).advance(time);
    }

    @Override
    protected boolean canFailOpen() {
        return false;
    }

    @Override
    protected URI serve(IdempotencyKey key, Commands commands, Application application) {
        if (server == null) {
            throw new IllegalStateException("not open");
        }
        return server.serve(JdkServer.Form.ANSWER.around(key, commands, (body, transaction) -> {
            if (transaction != null) {
                affect(transaction);
            }
            return application.handle(body, transaction);
        }));
    }

    private static void affect(CommandTransaction transaction) throws SQLException {
        transaction.stage(Message.to("payments").type("paid").json("{}").build());
        try (Statement statement = transaction.connection().createStatement()) {
            statement.executeUpdate("INSERT INTO effect (id) VALUES ('" + UUID.randomUUID() + "')");
        }
    }

    private static HttpRequest request(URI uri, String key) {
        return HttpRequest.newBuilder(uri)
                .header(USER, "ada")
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build();
    }

    private static HttpResponse<String> post(URI uri, String key) throws Exception {
        return HttpClient.newHttpClient().send(request(uri, key), HttpResponse.BodyHandlers.ofString());
    }

    private URI serve(Application application) {
        return serve(IdempotencyKey.required("charge"), commands(), application);
    }

    private void assertEffects(int count) throws SQLException {
        assertThat(count("effect")).isEqualTo(count);
        assertThat(count("postrider_message")).isEqualTo(count);
    }

    @Test
    void answerEffectAndMessagesCommitTogether() throws Exception {
        URI uri = serve((body, transaction) -> KeyedResponse.text(201, "paid"));
        assertThat(post(uri, "k").statusCode()).isEqualTo(201);
        assertThat(post(uri, "k").statusCode()).isEqualTo(201);
        assertEffects(1);
    }

    @Test
    void rejectionIsKeptWhileItsEffectIsRolledBack() throws Exception {
        URI uri = serve((body, transaction) -> KeyedResponse.text(402, "no money"));
        assertThat(post(uri, "k").body()).isEqualTo("no money");
        HttpResponse<String> replay = post(uri, "k");
        assertThat(replay.body()).isEqualTo("no money");
        assertThat(replay.headers().firstValue("Idempotency-Replayed")).hasValue("true");
        assertEffects(0);
    }

    @Test
    void rejectionWhoseHeadersAreTooLargeToKeepIsRepeatedWithItsStatus() throws Exception {
        Postrider small = opened(Postrider.on(pool())
                .topic("payments")
                .commands(options -> options.cacheBytes(0).maxResultBytes(100))
                .build());
        // the numbers of a random generator, which compression cannot make small
        String large = new Random(42).longs(50).mapToObj(Long::toHexString).collect(Collectors.joining());
        URI uri = serve(
                IdempotencyKey.required("charge"),
                small.commands(),
                (body, transaction) -> KeyedResponse.text(402, "no money").header("Location", "/" + large));
        assertThat(post(uri, "k").statusCode()).isEqualTo(402);
        HttpResponse<String> replay = post(uri, "k");
        assertThat(replay.statusCode()).isEqualTo(402);
        assertThat(replay.headers().firstValue("Idempotency-Result")).hasValue("omitted");
        assertThat(replay.headers().firstValue("Location")).isEmpty();
        assertEffects(0);
    }

    @Test
    void failureRefusalAndExceptionLeaveNoEffect() throws Exception {
        for (int status : List.of(500, 503, 403, 429)) {
            URI uri = serve((body, transaction) -> KeyedResponse.text(status, "no"));
            assertThat(post(uri, "k" + status).statusCode()).isEqualTo(status);
        }
        URI uri = serve((body, transaction) -> {
            throw new SQLException("as the test asked");
        });
        assertThat(post(uri, "k").statusCode()).isEqualTo(500);
        assertEffects(0);
    }

    /** No request is held back here: the one that claims the key does the work, the others are told so, or get the answer. */
    @Test
    void concurrentCallersLeaveOneRow() throws Exception {
        URI uri = serve((body, transaction) -> KeyedResponse.text(201, "paid"));
        HttpClient client = HttpClient.newHttpClient();
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            // a server may close a connection that it thinks idle while a request is on its way: what keys are for
            all.add(client.sendAsync(request(uri, "k"), HttpResponse.BodyHandlers.ofString())
                    .exceptionallyCompose(
                            lost -> client.sendAsync(request(uri, "k"), HttpResponse.BodyHandlers.ofString())));
        }
        List<Integer> statuses = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> one : all) {
            statuses.add(one.get().statusCode());
        }
        assertThat(statuses).isSubsetOf(201, 409).contains(201);
        assertEffects(1);
    }

    private URI serveLeased(LeasedHandler<?> handler) throws IOException {
        if (server == null) {
            throw new IllegalStateException("not open");
        }
        return server.serve(IdempotencyKey.required("charge").aroundLeased(commands(), handler));
    }

    /** Whether the handler throws or answers for a system that did not answer: the effect may have happened. */
    @Test
    void leasedEffectOfUnknownOutcomeIsNotRepeated() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        URI throwing = serveLeased((call, lease) -> {
            lease.externalEffectStarted();
            throw new IOException("no answer to effect " + effects.incrementAndGet());
        });
        HttpResponse<String> first = post(throwing, "k");
        assertThat(first.statusCode()).isEqualTo(409);
        assertThat(first.body()).contains("outcome-unknown", "operation_ref");
        assertThat(post(throwing, "k").body()).contains("outcome-unknown");

        URI answering = serveLeased((call, lease) -> {
            lease.externalEffectStarted();
            effects.incrementAndGet();
            return KeyedResponse.text(502, "no answer");
        });
        assertThat(post(answering, "k2").statusCode()).isEqualTo(502);
        assertThat(post(answering, "k2").body()).contains("outcome-unknown");
        assertThat(effects).hasValue(2);
    }

    @Test
    void errorAfterALeasedEffectIsAnUnknownOutcomeAtOnce() throws Exception {
        URI uri = serveLeased((call, lease) -> {
            lease.externalEffectStarted();
            throw new AssertionError("as the test asked");
        });
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> response = post(uri, "k");
            assertThat(response.statusCode()).isEqualTo(409);
            assertThat(response.body()).contains("outcome-unknown", "operation_ref");
        }
    }

    /** The effect is committed, whatever the handler makes of the error. */
    @Test
    void handlerThatEndsItsTransactionUnseenHasAnUnknownOutcome() throws Exception {
        String end = hiddenCommit();
        List<Application> handlers = List.of(
                (body, transaction) -> {
                    end(transaction, end);
                    return KeyedResponse.text(201, "never");
                },
                (body, transaction) -> endedAndAnswered(transaction, end, 201),
                (body, transaction) -> endedAndAnswered(transaction, end, 400),
                (body, transaction) -> endedAndAnswered(transaction, end, 403),
                (body, transaction) -> endedAndAnswered(transaction, end, 503),
                (body, transaction) -> {
                    endedAndAnswered(transaction, end, 201);
                    throw new AssertionError("as the test asked");
                });
        for (int handler = 0; handler < handlers.size(); handler++) {
            URI uri = serve(handlers.get(handler));
            for (int i = 0; i < 2; i++) {
                HttpResponse<String> response = post(uri, "k" + handler);
                assertThat(response.body())
                        .as("handler " + handler)
                        .contains("outcome-unknown", "operation_ref", "\"retryable\":false");
                assertThat(response.statusCode()).isEqualTo(409);
            }
        }
        assertThat(count("effect")).isEqualTo(handlers.size());
    }

    private String hiddenCommit() throws SQLException {
        switch (engine) {
            case H2 -> {
                return "SET CACHE_SIZE 4096";
            }
            case POSTGRESQL_18 -> {
                return "SELECT ';'; COMMIT";
            }
            default -> {
                execute("CREATE PROCEDURE hidden_commit() COMMIT");
                return "CALL hidden_commit()";
            }
        }
    }

    private static void end(@Nullable CommandTransaction transaction, String end) throws SQLException {
        try (Statement statement =
                Objects.requireNonNull(transaction).connection().createStatement()) {
            statement.execute(end);
        }
    }

    private static KeyedResponse endedAndAnswered(@Nullable CommandTransaction transaction, String end, int status)
            throws SQLException {
        try {
            end(transaction, end);
        } catch (UnusableConnectionException e) {
            return KeyedResponse.text(status, "the error is ignored");
        }
        throw new AssertionError("the end of the transaction was not noticed");
    }

    @Test
    void leasedEffectThatSurelyDidNotHappenIsRetried() throws Exception {
        URI uri = serveLeased((call, lease) -> {
            lease.externalEffectStarted();
            if (lease.attempt() == 1) {
                lease.externalEffectDidNotHappen();
                return KeyedResponse.text(502, "connection refused");
            }
            return KeyedResponse.text(201, "sent");
        });
        assertThat(post(uri, "k").statusCode()).isEqualTo(502);
        assertThat(post(uri, "k").body()).isEqualTo("sent");
    }

    @Test
    void leasedEffectWhoseRecordCannotBeWrittenIsMarked() throws Exception {
        URI uri = serveLeased((call, lease) -> {
            lease.externalEffectStarted();
            pool().close();
            return KeyedResponse.text(201, "sent");
        });
        HttpResponse<String> response = post(uri, "k");
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.body()).isEqualTo("sent");
        assertThat(response.headers().firstValue("Idempotency-Degraded")).hasValue("true");
    }

    @Test
    void resultThatCannotBeReadIsNotCalledRolledBack() throws Exception {
        URI uri = serve((body, transaction) -> KeyedResponse.text(201, "paid"));
        post(uri, "k");
        execute("UPDATE postrider_command SET result_codec = 'another'");
        HttpResponse<String> response = post(uri, "k");
        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body())
                .contains("result-unreadable", "was done", "operation_ref", "\"safe_new_key\":false")
                .doesNotContain("rolled back");
        assertEffects(1);
    }

    /** Two requests lock two rows in opposite orders; the one that gives way runs again. */
    @Test
    void handlerWhoseTransactionGaveWayRunsAgain() throws Exception {
        execute("CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)");
        execute("INSERT INTO account VALUES (1, 0)");
        execute("INSERT INTO account VALUES (2, 0)");
        CyclicBarrier bothHaveOne = new CyclicBarrier(2);
        AtomicInteger runs = new AtomicInteger();
        URI uri = serve((body, transaction) -> {
            int first = runs.incrementAndGet();
            // Later runs lock in one order: otherwise two that both gave way may meet again, as often as they are run.
            int account = first > 2 || body.equals("{}") ? 1 : 2;
            add(transaction, account);
            if (first <= 2) {
                bothHaveOne.await(1, TimeUnit.MINUTES);
            }
            add(transaction, 3 - account);
            return KeyedResponse.text(201, "paid");
        });
        HttpClient client = HttpClient.newHttpClient();
        List<CompletableFuture<HttpResponse<String>>> both = new ArrayList<>();
        for (String body : List.of("{}", "{2}")) {
            both.add(client.sendAsync(
                    HttpRequest.newBuilder(uri)
                            .header(USER, "ada")
                            .header("Idempotency-Key", "k" + body.length())
                            .POST(HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofString()));
        }
        for (CompletableFuture<HttpResponse<String>> one : both) {
            HttpResponse<String> response = one.get(1, TimeUnit.MINUTES);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(201);
        }
        assertThat(runs).hasValueGreaterThanOrEqualTo(3);
        assertThat(count("account WHERE balance = 2")).isEqualTo(2);
        assertEffects(2);
    }

    private static void add(@Nullable CommandTransaction transaction, int account) throws SQLException {
        Connection connection = Objects.requireNonNull(transaction).connection();
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE account SET balance = balance + 1 WHERE id = " + account);
        }
    }

    @Test
    void transactionThatGivesWayEachTimeIsAnswered503() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        URI uri = serve((body, transaction) -> {
            runs.incrementAndGet();
            throw new IllegalStateException("wrapped by a framework", new SQLException("deadlock", "40001", 1213));
        });
        HttpResponse<String> response = post(uri, "k");
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).contains("transaction-conflict");
        assertThat(response.headers().firstValue("Retry-After")).isPresent();
        assertThat(runs).hasValue(3);
        assertEffects(0);
    }

    private HikariDataSource pool(int connections) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(pool());
        config.setMaximumPoolSize(connections);
        config.setConnectionTimeout(Duration.ofSeconds(30).toMillis());
        return opened(new HikariDataSource(config));
    }

    /** More requests than connections, each of which takes a connection of its own: none waits for one that another holds. */
    @Test
    void handlersWithDataAccessOfTheirOwnDoNotExhaustThePool() throws Exception {
        if (server == null) {
            throw new IllegalStateException("not open");
        }
        int requests = 10;
        int connections = 3;
        HikariDataSource small = pool(connections);
        Postrider node = opened(Postrider.on(small).topic("payments").build());
        CyclicBarrier together = new CyclicBarrier(requests);
        URI uri = server.serve(IdempotencyKey.required("charge").around(node.commands(), exchange -> {
            await(together);
            try (Connection connection = small.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate("INSERT INTO effect (id) VALUES ('" + UUID.randomUUID() + "')");
            } catch (SQLException e) {
                throw new IOException(e);
            }
            exchange.sendResponseHeaders(204, -1);
        }));
        HttpClient client = HttpClient.newHttpClient();
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            all.add(client.sendAsync(request(uri, "k" + i), HttpResponse.BodyHandlers.ofString()));
        }
        for (CompletableFuture<HttpResponse<String>> one : all) {
            assertThat(one.get(2, TimeUnit.MINUTES).statusCode()).isEqualTo(204);
        }
        assertThat(count("effect")).isEqualTo(requests);
    }

    private static void await(CyclicBarrier together) throws IOException {
        try {
            together.await(1, TimeUnit.MINUTES);
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    @Test
    void dataAccessOfAHandlerJoinsTheTransaction() throws Exception {
        if (server == null) {
            throw new IllegalStateException("not open");
        }
        HikariDataSource one = pool(1);
        Postrider node = opened(Postrider.on(one).topic("payments").build());
        URI uri = server.serve(IdempotencyKey.required("charge").around(node.commands(), exchange -> {
            CommandTransaction transaction = IdempotencyKey.transaction(exchange);
            try {
                affect(transaction);
            } catch (SQLException e) {
                throw new IOException(e);
            }
            exchange.sendResponseHeaders(transaction.attempt() == 1 ? 500 : 204, -1);
        }));
        assertThat(post(uri, "k").statusCode()).isEqualTo(500);
        assertEffects(0);
        assertThat(post(uri, "k").statusCode()).isEqualTo(204);
        assertThat(post(uri, "k").statusCode()).isEqualTo(204);
        assertEffects(1);
    }
}
