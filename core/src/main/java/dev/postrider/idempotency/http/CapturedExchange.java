package dev.postrider.idempotency.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An exchange that captures the response in memory. For one run of a handler, in one thread. */
final class CapturedExchange extends HttpExchange {

    private final HttpExchange exchange;
    private final ResponseBuffer buffer;
    private final Headers headers = new Headers();
    /** Separate attributes, because the server shares the attributes of an exchange within its context. */
    private final Map<String, @Nullable Object> attributes = new HashMap<>();

    private InputStream in;
    private OutputStream out;
    private int status = -1;
    private long announced;

    CapturedExchange(HttpExchange exchange, KeyedRequest call, ResponseBuffer buffer) {
        this.exchange = exchange;
        this.buffer = buffer;
        this.in = new ByteArrayInputStream(call.sharedBody());
        this.out = buffer.body();
    }

    KeyedResponse answer() {
        if (status < 0) {
            throw new IllegalStateException(
                    "The handler returned without a response: with an idempotency key it must call"
                            + " sendResponseHeaders before it returns");
        }
        KeyedResponse answer = buffer.toAnswer(status, headers);
        // as in sendResponseHeaders: 0 means that the length is not known yet, and a negative value means no body
        long expected = announced == 0 ? buffer.size() : Math.max(announced, 0);
        if (buffer.size() != expected) {
            throw new IllegalStateException("The handler announced " + expected + " bytes and wrote " + buffer.size()
                    + ": pass the length of the body to sendResponseHeaders, or 0 if it is not known yet");
        }
        return Boolean.TRUE.equals(attributes.get(IdempotencyKey.UNRECORDED)) ? answer.unrecorded() : answer;
    }

    @Override
    public Headers getRequestHeaders() {
        return exchange.getRequestHeaders();
    }

    @Override
    public Headers getResponseHeaders() {
        return headers;
    }

    @Override
    public URI getRequestURI() {
        return exchange.getRequestURI();
    }

    @Override
    public String getRequestMethod() {
        return exchange.getRequestMethod();
    }

    @Override
    public HttpContext getHttpContext() {
        return exchange.getHttpContext();
    }

    @Override
    public void close() {
        // the endpoint sends the response and closes the exchange after the record is committed
    }

    @Override
    public InputStream getRequestBody() {
        return in;
    }

    @Override
    public OutputStream getResponseBody() {
        return out;
    }

    @Override
    public void sendResponseHeaders(int status, long length) throws IOException {
        if (this.status >= 0) {
            throw new IOException("headers already sent");
        }
        // an informational response would be sent before the record is committed
        if (status >= 200) {
            this.status = status;
            this.announced = length;
        }
    }

    @Override
    public InetSocketAddress getRemoteAddress() {
        return exchange.getRemoteAddress();
    }

    @Override
    public int getResponseCode() {
        return status;
    }

    @Override
    public InetSocketAddress getLocalAddress() {
        return exchange.getLocalAddress();
    }

    @Override
    public String getProtocol() {
        return exchange.getProtocol();
    }

    @Override
    public @Nullable Object getAttribute(String name) {
        return attributes.containsKey(name) ? attributes.get(name) : exchange.getAttribute(name);
    }

    @Override
    public void setAttribute(String name, @Nullable Object value) {
        attributes.put(name, value);
    }

    @Override
    public void setStreams(@Nullable InputStream in, @Nullable OutputStream out) {
        this.in = in == null ? this.in : in;
        this.out = out == null ? this.out : out;
    }

    @Override
    public HttpPrincipal getPrincipal() {
        return exchange.getPrincipal();
    }
}
