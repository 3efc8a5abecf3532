package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.server.cli.CommandFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Metrics and health over HTTP, within this process and from a relay. */
@Timeout(180)
final class MonitoringTest {

    private final HttpClient client = HttpClient.newHttpClient();
    private final MonitoringConfig config = new MonitoringConfig();
    private final Monitoring monitoring = new Monitoring(config);
    private final MonitoringServer server =
            MonitoringServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), monitoring);

    @AfterEach
    void close() {
        server.close();
    }

    private HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        return send(port, path, "GET");
    }

    private HttpResponse<String> send(int port, String path, String method) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void relayThatHasNotStartedLivesAndIsNotReady() throws Exception {
        assertThat(get(server.port(), "/health/live").statusCode()).isEqualTo(200);
        assertThat(get(server.port(), "/health/ready").statusCode()).isEqualTo(503);
        assertThat(get(server.port(), "/metrics.json").body()).startsWith("{\"health\":{\"status\":\"DEGRADED\"");
    }

    @Test
    void nodeShowsItsMetricsAndItsHealth() throws Exception {
        Databases.Empty database = Databases.create();
        CountDownLatch sampled = new CountDownLatch(1);
        try (Postrider postrider = monitoring
                .into(Postrider.on(database.dataSource()))
                .topic("shop/orders", topic -> topic.deliver(delivery -> {}))
                .topic("typo")
                .listener(event -> {
                    if (event instanceof Event.Sampled) {
                        sampled.countDown();
                    }
                })
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work -> work.stage(
                    Message.to("typo").type("order.placed").json("{}").build()));
            postrider.start();
            monitoring.delivering(true);
            assertThat(sampled.await(60, TimeUnit.SECONDS)).isTrue();

            HttpResponse<String> metrics = get(server.port(), "/metrics");
            assertThat(metrics.headers().firstValue("Content-Type"))
                    .hasValue("text/plain; version=0.0.4; charset=utf-8");
            assertThat(metrics.body()).contains("postrider_messages{state=\"waiting\",topic=\"typo\"} 1.0");
            assertThat(get(server.port(), "/metrics.json").body())
                    .contains(
                            "\"sample\":{\"takenAt\":",
                            "\"typo\":{\"paused\":0,\"nodes\":0,\"waiting\":1",
                            "\"window\":{");
            HttpResponse<String> health = get(server.port(), "/health");
            assertThat(health.statusCode()).isEqualTo(503);
            assertThat(health.body()).contains("\"NO_NODE\"", "No live node delivers topic typo, which has 1 messages");
            assertThat(get(server.port(), "/health/ready").statusCode())
                    .as("another node is missing, this one is not")
                    .isEqualTo(200);
        }
    }

    @Test
    void otherPathsAndMethodsAreRefused() throws Exception {
        assertThat(get(server.port(), "/metrics/").statusCode()).isEqualTo(404);
        assertThat(get(server.port(), "/health/live/../ready").statusCode()).isEqualTo(404);
        assertThat(send(server.port(), "/metrics", "POST").statusCode()).isEqualTo(405);
        HttpResponse<String> head = send(server.port(), "/health/live", "HEAD");
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        assertThat(head.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
    }

    @Test
    void onlyTheLoopbackInterfaceServesUnlessTold() {
        config.port(0);
        assertThat(config.address().orElseThrow().getAddress().isLoopbackAddress())
                .isTrue();
        assertThatThrownBy(() -> config.port(70_000))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("metrics-port");
    }

    @Test
    void portThatIsTakenEndsTheStartWithItsReason() {
        assertThatThrownBy(() -> MonitoringServer.start(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()), monitoring))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("metrics-port " + server.port() + " cannot be opened");
    }

    @Test
    void relayServesItsMetrics(@TempDir Path directory) throws Exception {
        Databases.Empty database = Databases.create();
        String file = Files.write(
                        directory.resolve("relay.properties"),
                        List.of(
                                "db.url = " + database.url(),
                                "db.user = postgres",
                                "migrate-on-start = true",
                                "sample-interval = 200ms",
                                "topic.orders.url = https://shop.example/hooks"))
                .toString();
        try (Child relay = Child.start(directory, "run", "--config", file, "--metrics-port", "0")) {
            relay.awaitOutput("Delivering orders");
            Matcher address =
                    Pattern.compile("Metrics at http://[^:]+:(\\d+)/metrics").matcher(relay.output());
            assertThat(address.find()).as(relay.output()).isTrue();
            int port = Integer.parseInt(address.group(1));

            assertThat(get(port, "/health/live").statusCode()).isEqualTo(200);
            Await.until(
                    Duration.ofMinutes(1),
                    () -> body(port).contains("postrider_nodes{topic=\"orders\"} 1.0"),
                    relay::output);
            assertThat(get(port, "/health/ready").statusCode()).isEqualTo(200);
            relay.terminate();
            assertThat(relay.awaitExit()).as(relay.output()).isZero();
        }
    }

    private String body(int port) {
        try {
            return get(port, "/metrics").body();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
