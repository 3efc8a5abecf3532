package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A complete response: status, headers, body. What becomes of the record follows from the status: below 400 the work is
 * committed and the answer kept; 4xx is a no that is kept and replayed while the work is rolled back; 5xx, and the refusals that
 * say nothing of the operation (401, 403, 404, 405, 406, 413, 415, 429), roll the work back and are not kept, so that a retry runs
 * again. {@link #recorded()} and {@link #unrecorded()} say otherwise. Immutable.
 *
 * <p>The name of a header is an HTTP token. Its value has no control character but the tab, and no character beyond U+00FF. An
 * answer that breaks this is refused when it is built, because a record of it could never be sent. The body of 204 and 304 is
 * dropped.
 */
public final class HttpAnswer {

    private static final byte[] NOTHING = {};

    /** Whether an answer is kept. */
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

    HttpAnswer(int status, Map<String, List<String>> headers, byte[] body, boolean omitted, Keeping keeping) {
        if (status < 200 || status > 599) {
            throw new IllegalArgumentException("An answer has a status from 200 to 599, but this is " + status);
        }
        this.status = status;
        this.headers = headers;
        this.body = body;
        this.omitted = omitted;
        this.keeping = keeping;
    }

    /** An answer without headers and body. */
    public static HttpAnswer of(int status) {
        return of(status, Map.of(), NOTHING);
    }

    /** @throws IllegalArgumentException if the status is not from 200 to 599, or HTTP cannot carry a header */
    public static HttpAnswer of(int status, Map<String, List<String>> headers, byte[] body) {
        headers.forEach((name, lines) -> lines.forEach(line -> HeaderMap.check(name, line)));
        byte[] kept = status == 204 || status == 304 ? NOTHING : body.clone();
        return new HttpAnswer(status, HeaderMap.copyOf(headers), kept, false, Keeping.BY_STATUS);
    }

    public static HttpAnswer json(int status, String json) {
        return of(status, Map.of("Content-Type", List.of("application/json")), json.getBytes(UTF_8));
    }

    public static HttpAnswer text(int status, String text) {
        return of(status, Map.of("Content-Type", List.of("text/plain; charset=utf-8")), text.getBytes(UTF_8));
    }

    /**
     * The same answer with this header, instead of any lines of it.
     *
     * @throws IllegalArgumentException if HTTP cannot carry the header
     */
    public HttpAnswer header(String name, String value) {
        HeaderMap.check(name, value);
        return new HttpAnswer(status, HeaderMap.with(headers, name, value), body, omitted, keeping);
    }

    /** The same answer, kept and replayed whatever its status; from 400 on the work is rolled back nevertheless. */
    public HttpAnswer recorded() {
        return new HttpAnswer(status, headers, body, omitted, Keeping.ALWAYS);
    }

    /** The same answer, not kept whatever its status: the work is rolled back, and a retry with the same key runs again. */
    public HttpAnswer unrecorded() {
        return new HttpAnswer(status, headers, body, omitted, Keeping.NEVER);
    }

    public int status() {
        return status;
    }

    /** By name in any case. */
    public Map<String, List<String>> headers() {
        return headers;
    }

    /** The first line of this header. */
    public @Nullable String header(String name) {
        List<String> lines = headers.getOrDefault(name, List.of());
        return lines.isEmpty() ? null : lines.get(0);
    }

    /** A copy. */
    public byte[] body() {
        return body.clone();
    }

    byte[] sharedBody() {
        return body;
    }

    /** Whether there was a body that was too large to be kept. */
    public boolean isOmitted() {
        return omitted;
    }

    /** No body is not encoded: a client that unpacks it would fail. */
    HttpAnswer withoutBody() {
        return new HttpAnswer(status, HeaderMap.without(headers, "Content-Encoding"), NOTHING, true, keeping);
    }

    Keeping keeping() {
        return keeping;
    }

    @Override
    public String toString() {
        return "HttpAnswer[" + status + ", " + body.length + " bytes]";
    }
}
