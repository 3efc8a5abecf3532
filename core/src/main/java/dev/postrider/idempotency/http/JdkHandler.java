package dev.postrider.idempotency.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpPrincipal;
import dev.postrider.error.InvalidConfigurationException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Connects an endpoint to the JDK's HTTP server. Thread-safe. */
final class JdkHandler implements HttpHandler {

    /** Makes the response to a protected request. */
    @FunctionalInterface
    private interface Protected {
        KeyedResponse answer(HttpExchange exchange, KeyedRequest call) throws Exception;
    }

    private final KeyedEndpoint endpoint;
    private final Protected keyed;
    private final HttpHandler others;

    private JdkHandler(KeyedEndpoint endpoint, Protected keyed, HttpHandler others) {
        this.endpoint = endpoint;
        this.keyed = keyed;
        this.others = Objects.requireNonNull(others);
    }

    static HttpHandler around(KeyedEndpoint endpoint, HttpHandler handler) {
        Protected keyed = (exchange, call) -> endpoint.answer(
                call,
                (same, transaction) -> captured(endpoint, exchange, same, handler, transaction),
                same -> captured(endpoint, exchange, same, handler, null));
        return new JdkHandler(endpoint, keyed, handler);
    }

    static HttpHandler around(KeyedEndpoint endpoint, KeyedHandler<?> handler, HttpHandler others) {
        if (endpoint.failsOpen()) {
            throw new InvalidConfigurationException(
                    "idempotency-key.fail-open", "is not possible: without the store this handler has no transaction");
        }
        return new JdkHandler(endpoint, (exchange, call) -> endpoint.answer(call, handler), others);
    }

    static HttpHandler aroundLeased(KeyedEndpoint endpoint, LeasedHandler<?> handler, HttpHandler others) {
        if (endpoint.failsOpen()) {
            throw new InvalidConfigurationException(
                    "idempotency-key.fail-open", "is not possible: without the store this handler has no lease");
        }
        return new JdkHandler(endpoint, (exchange, call) -> endpoint.answerLeased(call, handler), others);
    }

    private static KeyedResponse captured(
            KeyedEndpoint endpoint,
            HttpExchange exchange,
            KeyedRequest call,
            HttpHandler handler,
            @Nullable Object transaction)
            throws IOException {
        ResponseBuffer buffer = endpoint.buffer();
        CapturedExchange captured = new CapturedExchange(exchange, call, buffer);
        captured.setAttribute(IdempotencyKey.TRANSACTION, transaction);
        try {
            handler.handle(captured);
        } catch (IOException | RuntimeException e) {
            buffer.refuseOverflow();
            throw e;
        }
        return captured.answer();
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        KeyedRequest call = head(exchange);
        if (endpoint.appliesTo(call)) {
            send(exchange, answer(exchange, call.withBody(read(exchange))));
        } else {
            others.handle(exchange);
        }
    }

    private KeyedResponse answer(HttpExchange exchange, KeyedRequest call) throws IOException {
        try {
            return keyed.answer(exchange, call);
        } catch (Exception e) {
            return endpoint.failed(e);
        } catch (Error e) { // the server would end its thread without a response
            send(exchange, endpoint.failed(e));
            throw e;
        }
    }

    private static KeyedRequest head(HttpExchange exchange) {
        HttpPrincipal principal = exchange.getPrincipal();
        return KeyedRequest.of(
                exchange.getRequestMethod(),
                exchange.getRequestURI().getRawPath(),
                exchange.getRequestURI().getRawQuery(),
                exchange.getRequestHeaders(),
                principal == null ? null : principal.getName());
    }

    /** Reads the body. The server does not report a truncated body, so its length is compared with Content-Length. */
    private byte[] read(HttpExchange exchange) throws IOException {
        byte[] body = endpoint.read(exchange.getRequestBody());
        String announced = exchange.getRequestHeaders().getFirst("Content-Length");
        if (announced != null && body.length < endpoint.readLimit() && body.length < Long.parseLong(announced)) {
            throw new IOException(
                    "The request's body was truncated after " + body.length + " of " + announced + " bytes");
        }
        return body;
    }

    static void send(HttpExchange exchange, KeyedResponse answer) throws IOException {
        try (exchange) {
            answer.headers()
                    .forEach((name, lines) -> exchange.getResponseHeaders().put(name, lines));
            byte[] body = answer.sharedBody();
            exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
            if (body.length > 0) {
                try (OutputStream out = exchange.getResponseBody()) {
                    out.write(body);
                }
            }
        }
    }
}
