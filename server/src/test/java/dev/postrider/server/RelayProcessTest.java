package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.admin.TopicStatus;
import dev.postrider.message.Message;
import dev.postrider.testkit.FaultyProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The relay as a real process, on a real database, to a real destination. */
@Execution(ExecutionMode.CONCURRENT)
final class RelayProcessTest {

    private static final int MESSAGES = 30;

    @TempDir
    private Path directory = Path.of("");

    private final Databases.Empty database = Databases.create();
    private final Postrider writer =
            Postrider.on(database.dataSource()).topic("shop/orders").build();
    private final ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch mayAnswer = new CountDownLatch(1);
    private final HttpServer receiver = receiver();

    private HttpServer receiver() {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setExecutor(threads);
            server.createContext("/", exchange -> {
                try (exchange) {
                    received.add(exchange.getRequestHeaders().getFirst("ce-id"));
                    assertThat(mayAnswer.await(3, TimeUnit.MINUTES)).isTrue();
                    exchange.sendResponseHeaders(204, -1);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            return server;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void startReceiver() {
        receiver.start();
    }

    @AfterEach
    void stopReceiver() {
        mayAnswer.countDown();
        receiver.stop(0);
        threads.shutdownNow();
    }

    private String config(String url, String... more) throws Exception {
        List<String> lines = List.of(
                "db.url = " + url,
                "db.user = postgres",
                "topic.shop/orders.url = http://127.0.0.1:"
                        + receiver.getAddress().getPort() + "/hooks",
                "topic.shop/orders.allow-private-addresses = true",
                "topic.shop/orders.secret = whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "poll-interval = 200ms",
                String.join("\n", more));
        return Files.write(directory.resolve("relay.properties"), lines).toString();
    }

    private List<String> writeMessages() {
        return writer.callInTransaction(work -> {
            List<Message> messages = IntStream.range(0, MESSAGES)
                    .mapToObj(number -> Message.to("shop/orders")
                            .type("order.placed")
                            .json("{\"n\":" + number + "}")
                            .build())
                    .toList();
            work.stage(messages);
            return messages.stream().map(message -> message.id().toString()).toList();
        });
    }

    private long backlog() {
        return writer.admin().status().stream().mapToLong(TopicStatus::backlog).sum();
    }

    @Test
    void deliversEverythingAndEndsInOrderOnSigterm() throws Exception {
        mayAnswer.countDown();
        writer.migrate();
        List<String> written = writeMessages();
        try (Child relay = Child.start(directory, "run", "--config", config(database.url()))) {
            Await.until(Duration.ofMinutes(3), () -> backlog() == 0, relay::output);
            relay.terminate();

            assertThat(relay.awaitExit()).as(relay.output()).isZero();
            assertThat(relay.output()).contains("Delivering shop/orders", "Shutdown requested", "Ended");
        }
        assertThat(received).containsExactlyInAnyOrderElementsOf(written);
    }

    @Test
    void finishesWhatIsUnderWayWhenToldToEnd() throws Exception {
        writer.migrate();
        // Nothing is given up while the answers are held back.
        String file = config(database.url(), "lease = 5m", "topic.shop/orders.timeout = 3m", "drain-timeout = 3m");
        try (Child relay = Child.start(directory, "run", "--config", file)) {
            List<String> written = writeMessages();
            Await.until(Duration.ofMinutes(3), () -> received.size() == MESSAGES, relay::output);
            relay.terminate();
            relay.awaitOutput("Shutdown requested");
            assertThat(backlog()).isEqualTo(MESSAGES);
            mayAnswer.countDown();

            assertThat(relay.awaitExit()).as(relay.output()).isZero();
            assertThat(backlog()).isZero();
            assertThat(received).containsExactlyInAnyOrderElementsOf(written);
        }
    }

    @Test
    void listensForTheDoorbellUnlessToldNotTo() throws Exception {
        writer.migrate();
        try (Child relay = Child.start(directory, "run", "--config", config(database.url()))) {
            Await.until(Duration.ofMinutes(3), () -> listeners() == 1, relay::output);
        }
        Await.until(Duration.ofMinutes(3), () -> listeners() == 0, () -> "still listening");
        try (Child relay = Child.start(directory, "run", "--config", config(database.url(), "db.doorbell = false"))) {
            relay.awaitOutput("Delivering shop/orders");
            writeMessages();
            mayAnswer.countDown();
            Await.until(Duration.ofMinutes(3), () -> backlog() == 0, relay::output);
            assertThat(listeners()).isZero();
        }
    }

    private int listeners() {
        String sql =
                "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void missingTablesEndItWithFourAndTheCommandThatMendsIt() throws Exception {
        String file = config(database.url());
        try (Child relay = Child.start(directory, "run", "--config", file)) {
            assertThat(relay.awaitExit()).isEqualTo(4);
            assertThat(relay.output())
                    .contains("postrider migrate --config " + file)
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void bringsTheTablesInWhenToldTo() throws Exception {
        try (Child relay = Child.start(directory, "run", "--config", config(database.url(), "migrate-on-start=true"))) {
            relay.awaitOutput("Delivering shop/orders");
            relay.interrupt();

            assertThat(relay.awaitExit()).as(relay.output()).isZero();
        }
    }

    @Test
    void aTimeoutThatDoesNotFitTheLeaseEndsItWithTwo() throws Exception {
        writer.migrate();
        String file = config(database.url(), "topic.shop/orders.timeout = 29s");
        try (Child relay = Child.start(directory, "run", "--config", file)) {
            assertThat(relay.awaitExit()).isEqualTo(2);
            assertThat(relay.output()).contains("topic.shop/orders.timeout");
        }
    }

    @Test
    void triesAgainWhileTheDatabaseIsDownAndThenEndsWithThree() throws Exception {
        String file = config("jdbc:postgresql://localhost:1/shop?password=hunter2", "db.connect-timeout = 10s");
        try (Child relay = Child.start(directory, "run", "--config", file)) {
            assertThat(relay.awaitExit()).isEqualTo(3);
            assertThat(relay.output())
                    .contains("trying again", "cannot be reached")
                    .doesNotContain("hunter2")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void aWrongDatabaseNameEndsItAtOnce() throws Exception {
        try (Child relay = Child.start(directory, "run", "--config", config(database.url() + "_not"))) {
            assertThat(relay.awaitExit()).isEqualTo(3);
            assertThat(relay.output()).contains("refuses the login").doesNotContain("trying again");
        }
    }

    @Test
    void canBeToldToEndWhileItWaitsForTheDatabase() throws Exception {
        try (Child relay = Child.start(directory, "run", "--config", config("jdbc:postgresql://localhost:1/shop"))) {
            relay.awaitOutput("trying again");
            relay.terminate();

            assertThat(relay.awaitExit()).as(relay.output()).isZero();
        }
    }

    @Test
    void recoversFromConnectsThatAreAcceptedAndNotAnswered() throws Exception {
        mayAnswer.countDown();
        writer.migrate();
        try (FaultyProxy proxy = FaultyProxy.before(database.url());
                Child relay = Child.start(directory, "run", "--config", config(proxy.jdbcUrl()))) {
            Await.until(Duration.ofMinutes(3), () -> listeners() == 1, relay::output);
            proxy.swallow();
            proxy.cut();
            // More than hang at once: the pool and the doorbell have given up and tried again.
            Await.until(Duration.ofMinutes(3), () -> proxy.swallowed() >= 5, relay::output);
            proxy.accept();
            writeMessages();

            Await.until(Duration.ofMinutes(3), () -> backlog() == 0, relay::output);
            Await.until(Duration.ofMinutes(3), () -> listeners() == 1, relay::output);
        }
    }

    @Test
    void endsInOrderWhileConnectsAreNotAnswered() throws Exception {
        writer.migrate();
        try (FaultyProxy proxy = FaultyProxy.before(database.url());
                Child relay = Child.start(
                        directory,
                        "run",
                        "--config",
                        config(
                                proxy.jdbcUrl(),
                                "drain-timeout = 1s",
                                "topic.shop/orders.timeout = 5s",
                                "lease = 15s"))) {
            Await.until(Duration.ofMinutes(3), () -> listeners() == 1, relay::output);
            proxy.swallow();
            proxy.cut();
            Await.until(Duration.ofMinutes(3), () -> proxy.swallowed() >= 2, relay::output);
            relay.terminate();

            assertThat(relay.awaitExit()).as(relay.output()).isZero();
        }
    }

    @Test
    void endsWithThreeWhenTheDatabaseAcceptsAndDoesNotAnswer() throws Exception {
        try (FaultyProxy proxy = FaultyProxy.before(database.url())) {
            proxy.swallow();
            String file = config(proxy.jdbcUrl(), "db.connect-timeout = 3s");
            try (Child relay = Child.start(directory, "run", "--config", file)) {
                assertThat(relay.awaitExit()).isEqualTo(3);
                assertThat(relay.output()).contains("cannot be reached").doesNotContain("\tat ");
            }
        }
    }

    @Test
    void canBeToldToEndWhileAConnectIsNotAnswered() throws Exception {
        try (FaultyProxy proxy = FaultyProxy.before(database.url())) {
            proxy.swallow();
            try (Child relay = Child.start(directory, "run", "--config", config(proxy.jdbcUrl()))) {
                Await.until(Duration.ofMinutes(3), () -> proxy.swallowed() == 1, relay::output);
                relay.terminate();

                assertThat(relay.awaitExit()).as(relay.output()).isZero();
            }
        }
    }
}
