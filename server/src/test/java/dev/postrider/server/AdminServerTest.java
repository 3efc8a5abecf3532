package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.Message;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The admin API of a relay, and its configuration. */
@Timeout(180)
final class AdminServerTest {

    private static final String TOKEN = "0123456789abcdef0123456789abcdef";

    private static final String MINIMAL = """
            db.url = jdbc:postgresql://localhost/shop
            topic.orders.url = https://shop.example/hooks
            """;

    @TempDir
    private Path directory = Path.of("");

    private AdminConfig load(String text) throws Exception {
        Path file = Files.writeString(directory.resolve("relay.properties"), MINIMAL + text);
        return RelayConfig.load(file, name -> TOKEN).admin();
    }

    @Test
    void apiIsOffUnlessItHasAPortAndThenOnTheLoopbackInterface() throws Exception {
        assertThat(load("").address()).isEmpty();
        assertThat(load("").isEnabled()).isFalse();
        AdminConfig on = load("admin-port = 0");
        assertThat(on.address().orElseThrow().getAddress().isLoopbackAddress()).isTrue();
        assertThat(on.tokens()).isEmpty();
    }

    @Test
    void otherInterfaceNeedsAnOperator() throws Exception {
        AdminConfig open = load("admin-port = 0\nadmin-host = 0.0.0.0");
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(open::address)
                .withMessage("admin-host 0.0.0.0 can be reached from other machines, and there is no operator:"
                        + " set admin.operator.<name>.token and .role, or leave admin-host out");
        AdminConfig closed = load("""
                admin-port = 0
                admin-host = 0.0.0.0
                admin.operator.ann.smith.token = ${env:ANN}
                admin.operator.ann.smith.role = operator
                admin.operator.ann.smith.tenant = acme
                """);
        assertThat(closed.address().orElseThrow().getAddress().isAnyLocalAddress())
                .isTrue();
        assertThat(closed.tokens()).isPresent();
    }

    @Test
    void relayServesTheAdminApiToItsOperators() throws Exception {
        Databases.Empty database = Databases.create();
        Path token = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        String file = Files.write(
                        directory.resolve("relay.properties"),
                        List.of(
                                "db.url = " + database.url(),
                                "db.user = postgres",
                                "migrate-on-start = true",
                                "sample-interval = 200ms",
                                "admin.operator.ann.token-file = " + token,
                                "admin.operator.ann.role = operator",
                                "topic.orders.url = https://shop.example/hooks"))
                .toString();
        try (Child relay = Child.start(directory, "run", "--config", file, "--admin-port", "0")) {
            relay.awaitOutput("Delivering orders");
            Matcher address =
                    Pattern.compile("Admin API at http://([^:]+:\\d+)/v1").matcher(relay.output());
            assertThat(address.find()).as(relay.output()).isTrue();
            URI base = URI.create("http://" + address.group(1));

            assertThat(send(base, "GET", "/v1/topics", "").statusCode()).isEqualTo(401);
            assertThat(send(base, "GET", "/v1/me", TOKEN).body())
                    .isEqualTo("{\"operator\":\"ann\",\"role\":\"operator\",\"tenant\":null,\"readOnly\":false,"
                            + "\"payloads\":false}");
            assertThat(send(base, "POST", "/v1/topics/pause", TOKEN).body()).isEqualTo("{\"result\":\"done\"}");
            try (Postrider writer =
                    Postrider.on(database.dataSource()).topic("orders").build()) {
                assertThat(writer.admin().status()).allMatch(topic -> topic.paused());
                writer.inTransaction(work -> work.stage(
                        Message.to("orders").type("order.placed").json("{}").build()));
            }
            assertThat(send(base, "GET", "/v1/messages", TOKEN).body()).contains("\"type\":\"order.placed\"");
            assertThat(send(base, "GET", "/v1/nodes", TOKEN).body()).contains("\"alive\":true");
            Await.until(Duration.ofMinutes(1), () -> status(base, "/v1/sample") == 200, relay::output);
            relay.terminate();
            assertThat(relay.awaitExit()).as(relay.output()).isZero();
            assertThat(relay.output()).doesNotContain(TOKEN);
        }
    }

    private static int status(URI base, String path) {
        try {
            return send(base, "GET", path, TOKEN).statusCode();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static HttpResponse<String> send(URI base, String method, String path, String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path));
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        if (method.equals("POST")) {
            request.header("Postrider-Admin", "1")
                    .header("Content-Type", "application/json")
                    .header("Idempotency-Key", "incident-7")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"topic\":\"orders\"}"));
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
