package dev.postrider.idempotency.http;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request as adapters hand it over. Immutable; header names in any case. */
public final class HttpCall {

    private static final byte[] NOTHING = {};

    private final String method;
    private final String path;
    private final @Nullable String query;
    private final Map<String, List<String>> headers;
    private final @Nullable String principal;
    private final byte[] body;

    private HttpCall(
            String method,
            String path,
            @Nullable String query,
            Map<String, List<String>> headers,
            @Nullable String principal,
            byte[] body) {
        this.method = method;
        this.path = path;
        this.query = query;
        this.headers = headers;
        this.principal = principal;
        this.body = body;
    }

    /**
     * A request whose body has not been read.
     *
     * @param path as it was sent, still encoded
     * @param query as it was sent, still encoded
     * @param principal who was authenticated, if anyone
     */
    public static HttpCall of(
            String method,
            String path,
            @Nullable String query,
            Map<String, List<String>> headers,
            @Nullable String principal) {
        return new HttpCall(method, path, query, HeaderMap.copyOf(headers), principal, NOTHING);
    }

    /** The same request with its body. */
    public HttpCall withBody(byte[] body) {
        return new HttpCall(method, path, query, headers, principal, body.clone());
    }

    public String method() {
        return method;
    }

    public String path() {
        return path;
    }

    public @Nullable String query() {
        return query;
    }

    public Map<String, List<String>> headers() {
        return headers;
    }

    /** The first line of this header. */
    public @Nullable String header(String name) {
        List<String> lines = headers.getOrDefault(name, List.of());
        return lines.isEmpty() ? null : lines.get(0);
    }

    /** Who was authenticated, if anyone. */
    public @Nullable String principal() {
        return principal;
    }

    /** A copy. */
    public byte[] body() {
        return body.clone();
    }

    byte[] sharedBody() {
        return body;
    }

    /** Without headers and query, which may hold secrets. */
    @Override
    public String toString() {
        return "HttpCall[" + method + ", " + body.length + " bytes]";
    }
}
