package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpPrincipal;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Connects the API to the JDK's HTTP server. The path of its context is the prefix of the API. Each event stream occupies a
 * thread of the server's executor, so that needs more than {@link AdminEvents#MOST_STREAMS} of them. Thread-safe.
 */
public final class AdminHttpHandler implements HttpHandler {

    /** After this time a client that is gone is noticed. */
    static final Duration HEARTBEAT = Duration.ofSeconds(15);

    private final AdminApi api;

    public AdminHttpHandler(AdminApi api) {
        this.api = api;
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            send(exchange, api.handle(request(exchange)));
        }
    }

    private static AdminRequest request(HttpExchange exchange) {
        HttpPrincipal principal = exchange.getPrincipal();
        @Nullable InetAddress local = exchange.getLocalAddress().getAddress();
        return new AdminRequest(
                exchange.getRequestMethod(),
                path(exchange),
                exchange.getRequestURI().getRawQuery(),
                exchange.getRequestHeaders(),
                exchange.getRequestBody(),
                new AdminRequest.Sender(
                        principal == null ? null : principal.getName(), local != null && local.isLoopbackAddress()));
    }

    /** What follows the path of the context. The server compares their beginnings only: /admin would also take /administration. */
    private static String path(HttpExchange exchange) {
        String path = exchange.getRequestURI().getRawPath();
        String prefix = exchange.getHttpContext().getPath().replaceFirst("/$", "");
        return path == null || !path.startsWith(prefix + "/") ? "" : path.substring(prefix.length());
    }

    private static void send(HttpExchange exchange, AdminResponse response) throws IOException {
        try (EventStream stream = response.stream()) {
            response.headers().forEach(exchange.getResponseHeaders()::set);
            if (stream != null) {
                exchange.sendResponseHeaders(response.status(), 0);
                copy(stream, exchange.getResponseBody());
                return;
            }
            byte[] body = response.body().getBytes(UTF_8);
            boolean hasBody = body.length > 0 && !exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(response.status(), hasBody ? body.length : -1);
            if (hasBody) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    /** Sends events until the stream ends, the client is gone, or the server stops. */
    static void copy(EventStream stream, OutputStream out) throws IOException {
        try {
            for (String events = stream.next(HEARTBEAT); events != null; events = stream.next(HEARTBEAT)) {
                out.write(events.getBytes(UTF_8));
                out.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
