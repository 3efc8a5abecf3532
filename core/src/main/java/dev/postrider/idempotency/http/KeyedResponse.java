package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A complete response: status, headers and body. The status decides how the request is recorded. Below 400 the work is
 * committed and the response is stored. 4xx is a rejection: the work is rolled back, and the response is stored and
 * replayed. 5xx, and the refusals that do not depend on the operation (401, 403, 404, 405, 406, 413, 415, 429), roll
 * the work back and are not stored, so that a retry runs again. {@link #recorded()} and {@link #unrecorded()} override
 * this. Immutable.
 *
 * <p>The name of a header is an HTTP token. Its value has no control character except the tab, and no character above
 * U+00FF. A response that breaks this rule is refused when it is built, because its record could never be sent. The
 * body of 204 and 304 is dropped.
 */
public final class KeyedResponse {

    private static final byte[] NOTHING = {};

    /** Whether a response is stored. */
    enum Keeping {
        BY_STATUS,
        ALWAYS,
        NEVER
    }

    private final int status;
    private final Map<String, List<String>> headers;
    private final byte[] body;
    private final boolean omitted;
    private final Keeping keeping;

    KeyedResponse(int status, Map<String, List<String>> headers, byte[] body, boolean omitted, Keeping keeping) {
        if (status < 200 || status > 599) {
            throw new IllegalArgumentException("The status of a response must be 200 to 599, but is " + status);
        }
        this.status = status;
        this.headers = headers;
        this.body = body;
        this.omitted = omitted;
        this.keeping = keeping;
    }

    /** A response without headers and body. */
    public static KeyedResponse of(int status) {
        return of(status, Map.of(), NOTHING);
    }

    /** @throws IllegalArgumentException if the status is not from 200 to 599, or HTTP cannot carry a header */
    public static KeyedResponse of(int status, Map<String, List<String>> headers, byte[] body) {
        headers.forEach((name, lines) -> lines.forEach(line -> HeaderMap.check(name, line)));
        byte[] kept = status == 204 || status == 304 ? NOTHING : body.clone();
        return new KeyedResponse(status, HeaderMap.copyOf(headers), kept, false, Keeping.BY_STATUS);
    }

    public static KeyedResponse json(int status, String json) {
        return of(status, Map.of("Content-Type", List.of("application/json")), json.getBytes(UTF_8));
    }

    public static KeyedResponse text(int status, String text) {
        return of(status, Map.of("Content-Type", List.of("text/plain; charset=utf-8")), text.getBytes(UTF_8));
    }

    /**
     * Returns a copy with this header. The new value replaces all values of the header.
     *
     * @throws IllegalArgumentException if HTTP cannot carry the header
     */
    public KeyedResponse header(String name, String value) {
        HeaderMap.check(name, value);
        return new KeyedResponse(status, HeaderMap.with(headers, name, value), body, omitted, keeping);
    }

    /**
     * Returns a copy that is stored and replayed for every status. For a status of 400 or more the work is rolled back
     * nevertheless.
     */
    public KeyedResponse recorded() {
        return new KeyedResponse(status, headers, body, omitted, Keeping.ALWAYS);
    }

    /**
     * Returns a copy that is not stored for any status: the work is rolled back, and a retry with the same key runs
     * again.
     */
    public KeyedResponse unrecorded() {
        return new KeyedResponse(status, headers, body, omitted, Keeping.NEVER);
    }

    public int status() {
        return status;
    }

    /** The headers, with case-insensitive names. */
    public Map<String, List<String>> headers() {
        return headers;
    }

    /** The first value of this header; null if it is absent. */
    public @Nullable String header(String name) {
        List<String> lines = headers.getOrDefault(name, List.of());
        return lines.isEmpty() ? null : lines.get(0);
    }

    /** A copy of the body. */
    public byte[] body() {
        return body.clone();
    }

    byte[] sharedBody() {
        return body;
    }

    /** Whether the body was too large to be stored. */
    public boolean isOmitted() {
        return omitted;
    }

    /** Removes the body, and Content-Encoding too: a client that decodes an empty body would fail. */
    KeyedResponse withoutBody() {
        return new KeyedResponse(status, HeaderMap.without(headers, "Content-Encoding"), NOTHING, true, keeping);
    }

    Keeping keeping() {
        return keeping;
    }

    @Override
    public String toString() {
        return "KeyedResponse[" + status + ", " + body.length + " bytes]";
    }
}
