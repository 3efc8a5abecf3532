package dev.postrider.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.message.Message;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two nodes behind the filter with one database: whichever gets the retry, there is one payment, one message and one answer. */
final class IdempotencyKeyFilterOnDatabaseTest {

    private final DataSource database = Databases.assumeStarted(Engine.POSTGRESQL_18)
            .createDatabase("filter")
            .dataSource();
    private final List<Postrider> nodes = new ArrayList<>();
    private final List<JettyServer> servers = new ArrayList<>();

    @BeforeEach
    void serve() throws Exception {
        for (int i = 0; i < 2; i++) {
            Postrider node = Postrider.on(database).topic("payments").build();
            nodes.add(node);
            node.migrate();
            IdempotencyKeyFilter filter =
                    new IdempotencyKeyFilter(IdempotencyKey.required("payments.charge"), node.commands());
            servers.add(new JettyServer(List.of(filter), new Payments()));
        }
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE payment (id INT GENERATED ALWAYS AS IDENTITY, amount TEXT NOT NULL)");
        }
    }

    @AfterEach
    void stop() throws Exception {
        for (JettyServer server : servers) {
            server.stop();
        }
        nodes.forEach(Postrider::close);
    }

    @Test
    void retryOnAnotherNodeGetsTheStoredAnswer() throws Exception {
        HttpResponse<String> first = post(servers.get(0).uri(), "k", "100");
        HttpResponse<String> retry = post(servers.get(1).uri(), "k", "100");

        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(retry.statusCode()).isEqualTo(201);
        assertThat(retry.body()).isEqualTo(first.body()).isEqualTo("payment 1");
        assertThat(retry.headers().firstValue("Idempotency-Replayed")).isPresent();
        assertThat(count("payment")).isOne();
        assertThat(count("postrider_message")).isOne();
    }

    @Test
    void failureRollsEverythingBackAndTheNextAttemptRuns() throws Exception {
        assertThat(post(servers.get(0).uri(), "k", "none").statusCode()).isEqualTo(500);
        assertThat(count("payment")).isZero();
        assertThat(count("postrider_message")).isZero();

        assertThat(post(servers.get(1).uri(), "k", "none").statusCode())
                .as("it runs again, and fails again")
                .isEqualTo(500);
        assertThat(post(servers.get(1).uri(), "k2", "100").statusCode()).isEqualTo(201);
        assertThat(count("payment")).isOne();
    }

    @Test
    void transactionThatGaveWayIsAnswered503() throws Exception {
        HttpResponse<String> response = post(servers.get(0).uri(), "k", "deadlock");
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).contains("transaction-conflict");
        assertThat(response.headers().firstValue("Retry-After")).isPresent();
        assertThat(count("payment")).isZero();
    }

    /** The payment is committed, although the application fails, or answers that it refused. */
    @Test
    void transactionThatTheApplicationEndsUnseenHasAnUnknownOutcome() throws Exception {
        for (String amount : List.of("end-and-fail", "end-and-refuse")) {
            for (JettyServer server : servers) {
                HttpResponse<String> response = post(server.uri(), amount, amount);
                assertThat(response.body()).contains("outcome-unknown", "operation_ref");
                assertThat(response.statusCode()).isEqualTo(409);
            }
        }
        assertThat(count("payment")).isEqualTo(2);
    }

    @Test
    void manyAtOnceOnBothNodesPayOnce() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i < 20; i++) {
            answers.add(client.sendAsync(
                    request(servers.get(i % 2).uri(), "k", "100"), HttpResponse.BodyHandlers.ofString()));
        }

        List<Integer> statuses = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            statuses.add(answer.get().statusCode());
        }

        assertThat(statuses).contains(201).allMatch(status -> status == 201 || status == 409);
        assertThat(count("payment")).isOne();
        assertThat(count("postrider_message")).isOne();
    }

    private static HttpResponse<String> post(URI uri, String key, String amount) throws Exception {
        return HttpClient.newHttpClient().send(request(uri, key, amount), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(URI uri, String key, String amount) {
        return HttpRequest.newBuilder(uri)
                .header(JettyServer.USER, "ada")
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofString(amount))
                .build();
    }

    private long count(String table) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Pays, tells others, and fails after both if there is nothing to pay. */
    private static final class Payments extends HttpServlet {

        private static final long serialVersionUID = 1;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            String amount = request.getReader().readLine();
            CommandTransaction transaction = IdempotencyKeyFilter.transaction(request);
            try (Statement statement = transaction.connection().createStatement();
                    ResultSet id = statement.executeQuery(
                            "INSERT INTO payment (amount) VALUES ('" + amount + "') RETURNING id")) {
                id.next();
                transaction.stage(
                        Message.to("payments").type("paid").text(amount).build());
                if (amount.startsWith("end")) {
                    end(transaction, amount.endsWith("fail"));
                    response.setStatus(400);
                    return;
                }
                if (amount.equals("deadlock")) {
                    throw new SQLException("deadlock detected", "40P01");
                }
                if (amount.equals("none")) {
                    throw new IllegalStateException("nothing to pay");
                }
                response.setStatus(201);
                response.getOutputStream().write(("payment " + id.getInt(1)).getBytes(StandardCharsets.UTF_8));
            } catch (SQLException e) {
                throw new ServletException(e);
            }
        }

        private static void end(CommandTransaction transaction, boolean fails) throws SQLException {
            try (Statement statement = transaction.connection().createStatement()) {
                statement.execute("SELECT ';'; COMMIT");
            } catch (UnusableConnectionException e) {
                if (fails) {
                    throw e;
                }
            }
        }
    }
}
