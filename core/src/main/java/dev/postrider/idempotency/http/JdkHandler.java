package dev.postrider.idempotency.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpPrincipal;
import dev.postrider.error.InvalidConfigurationException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Puts an endpoint before the JDK's server. Thread-safe. */
final class JdkHandler implements HttpHandler {

    /** Answers a protected request. */
    @FunctionalInterface
    private interface Protected {
        HttpAnswer answer(HttpExchange exchange, HttpCall call) throws Exception;
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
                    "idempotency-key.fail-open", "cannot be: without the store this handler has no transaction");
        }
        return new JdkHandler(endpoint, (exchange, call) -> endpoint.answer(call, handler), others);
    }

    static HttpHandler aroundLeased(KeyedEndpoint endpoint, LeasedHandler<?> handler, HttpHandler others) {
        if (endpoint.failsOpen()) {
            throw new InvalidConfigurationException(
                    "idempotency-key.fail-open", "cannot be: without the store this handler has no lease");
        }
        return new JdkHandler(endpoint, (exchange, call) -> endpoint.answerLeased(call, handler), others);
    }

    private static HttpAnswer captured(
            KeyedEndpoint endpoint,
            HttpExchange exchange,
            HttpCall call,
            HttpHandler handler,
            @Nullable Object transaction)
            throws IOException {
        AnswerBuffer buffer = endpoint.buffer();
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
        HttpCall call = head(exchange);
        if (endpoint.appliesTo(call)) {
            send(exchange, answer(exchange, call.withBody(read(exchange))));
        } else {
            others.handle(exchange);
        }
    }

    private HttpAnswer answer(HttpExchange exchange, HttpCall call) {
        try {
            return keyed.answer(exchange, call);
        } catch (Exception e) {
            return endpoint.failed(e);
        }
    }

    private static HttpCall head(HttpExchange exchange) {
        HttpPrincipal principal = exchange.getPrincipal();
        return HttpCall.of(
                exchange.getRequestMethod(),
                exchange.getRequestURI().getRawPath(),
                exchange.getRequestURI().getRawQuery(),
                exchange.getRequestHeaders(),
                principal == null ? null : principal.getName());
    }

    /** A body that is cut off ends like a whole one here, so its length is compared with what was announced. */
    private byte[] read(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(endpoint.readLimit());
        String announced = exchange.getRequestHeaders().getFirst("Content-Length");
        if (announced != null && body.length < endpoint.readLimit() && body.length < Long.parseLong(announced)) {
            throw new IOException(
                    "The request's body was cut off after " + body.length + " of " + announced + " bytes");
        }
        return body;
    }

    static void send(HttpExchange exchange, HttpAnswer answer) throws IOException {
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
