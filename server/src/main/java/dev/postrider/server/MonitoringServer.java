package dev.postrider.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves metrics and health over HTTP: {@code /metrics}, {@code /metrics.json}, {@code /health}, {@code /health/live} and
 * {@code /health/ready}. It reads nothing from requests but method and path, and no response needs the database.
 */
final class MonitoringServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(MonitoringServer.class);

    /** The text format of Prometheus. */
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private static final String JSON = "application/json";
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final int THREADS = 4;
    private static final Set<String> METHODS = Set.of("GET", "HEAD");

    private final Monitoring monitoring;
    private final HttpServer server;
    private final ExecutorService threads;

    private record Answer(int status, String type, String body) {}

    private MonitoringServer(Monitoring monitoring, HttpServer server, ExecutorService threads) {
        this.monitoring = monitoring;
        this.server = server;
        this.threads = threads;
    }

    static MonitoringServer start(InetSocketAddress address, Monitoring monitoring) {
        HttpServer server = HttpServers.open(MonitoringConfig.METRICS_PORT, address);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "postrider-metrics");
            thread.setDaemon(true);
            return thread;
        });
        MonitoringServer started = new MonitoringServer(monitoring, server, threads);
        server.createContext("/", started::handle);
        server.setExecutor(threads);
        server.start();
        log.info(
                "Metrics at http://{}:{}/metrics",
                server.getAddress().getHostString(),
                server.getAddress().getPort());
        return started;
    }

    /** The port, also when a free one was chosen. */
    int port() {
        return server.getAddress().getPort();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Answer answer = METHODS.contains(exchange.getRequestMethod())
                    ? answer(exchange.getRequestURI().getPath())
                    : new Answer(405, TEXT, "only GET\n");
            byte[] body = answer.body().getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", answer.type());
            exchange.getResponseHeaders().set("Cache-Control", "no-store");
            exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
            boolean hasBody = !exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(answer.status(), hasBody ? body.length : -1);
            if (hasBody) {
                exchange.getResponseBody().write(body);
            }
        } catch (RuntimeException e) {
            log.warn("A request for metrics failed", e);
        }
    }

    private Answer answer(String path) {
        return switch (path) {
            case "/metrics" -> new Answer(200, PROMETHEUS, monitoring.metrics());
            case "/metrics.json" -> new Answer(200, JSON, monitoring.json());
            case "/health" -> new Answer(monitoring.isUnhealthy() ? 503 : 200, JSON, monitoring.healthJson());
            case "/health/live" -> new Answer(200, TEXT, "live\n");
            case "/health/ready" ->
                monitoring.isReady() ? new Answer(200, TEXT, "ready\n") : new Answer(503, TEXT, "not ready\n");
            default ->
                new Answer(404, TEXT, "not here: /metrics, /metrics.json, /health, /health/live, /health/ready\n");
        };
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
