package dev.postrider.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.http.HttpAnswer;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.message.Message;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
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
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
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
                .commands(options -> options.withCacheBytes(0))
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
        URI uri = serve((body, transaction) -> HttpAnswer.text(201, "paid"));
        assertThat(post(uri, "k").statusCode()).isEqualTo(201);
        assertThat(post(uri, "k").statusCode()).isEqualTo(201);
        assertEffects(1);
    }

    @Test
    void rejectionIsKeptWhileItsEffectIsRolledBack() throws Exception {
        URI uri = serve((body, transaction) -> HttpAnswer.text(402, "no money"));
        assertThat(post(uri, "k").body()).isEqualTo("no money");
        HttpResponse<String> replay = post(uri, "k");
        assertThat(replay.body()).isEqualTo("no money");
        assertThat(replay.headers().firstValue("Idempotency-Replayed")).hasValue("true");
        assertEffects(0);
    }

    @Test
    void failureRefusalAndExceptionLeaveNoEffect() throws Exception {
        for (int status : List.of(500, 503, 403, 429)) {
            URI uri = serve((body, transaction) -> HttpAnswer.text(status, "no"));
            assertThat(post(uri, "k" + status).statusCode()).isEqualTo(status);
        }
        URI uri = serve((body, transaction) -> {
            throw new SQLException("as the test asked");
        });
        assertThat(post(uri, "k").statusCode()).isEqualTo(500);
        assertEffects(0);
    }

    /** Nobody is held back here: whoever claims the key does the work, the others are told, or get the answer. */
    @Test
    void whoeverComesTogetherLeavesOneRow() throws Exception {
        URI uri = serve((body, transaction) -> HttpAnswer.text(201, "paid"));
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
}
