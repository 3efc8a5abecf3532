package dev.postrider.idempotency.http;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request, independent of the HTTP server; adapters create it. Immutable. Header names are case-insensitive. */
public final class KeyedRequest {

    private static final byte[] NOTHING = {};

    private final String method;
    private final String path;
    private final @Nullable String query;
    private final Map<String, List<String>> headers;
    private final @Nullable String principal;
    private final byte[] body;

    private KeyedRequest(
            String method,
            String path,
            @Nullable String query,
            Map<String, List<String>> headers,
            @Nullable String principal) {
        this.method = method;
        this.path = path;
        this.query = query;
        this.headers = headers;
        this.principal = principal;
        this.body = NOTHING;
    }

    private KeyedRequest(KeyedRequest request, byte[] body) {
        this.method = request.method;
        this.path = request.path;
        this.query = request.query;
        this.headers = request.headers;
        this.principal = request.principal;
        this.body = body;
    }

    /**
     * A request whose body has not been read.
     *
     * @param path as sent, still encoded
     * @param query as sent, still encoded
     * @param principal the authenticated principal; null if there is none
     */
    public static KeyedRequest of(
            String method,
            String path,
            @Nullable String query,
            Map<String, List<String>> headers,
            @Nullable String principal) {
        return new KeyedRequest(method, path, query, HeaderMap.copyOf(headers), principal);
    }

    /** Returns a copy of this request with a body. */
    public KeyedRequest withBody(byte[] body) {
        return new KeyedRequest(this, body.clone());
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

    /** The first value of this header; null if it is absent. */
    public @Nullable String header(String name) {
        List<String> lines = headers.getOrDefault(name, List.of());
        return lines.isEmpty() ? null : lines.get(0);
    }

    /** The authenticated principal; null if there is none. */
    public @Nullable String principal() {
        return principal;
    }

    /** A copy of the body. */
    public byte[] body() {
        return body.clone();
    }

    byte[] sharedBody() {
        return body;
    }

    /** Does not contain headers and query, which may contain secrets. */
    @Override
    public String toString() {
        return "KeyedRequest[" + method + ", " + body.length + " bytes]";
    }
}
