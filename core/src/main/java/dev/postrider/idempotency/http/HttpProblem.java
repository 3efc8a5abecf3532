package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.internal.Json;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The responses that replace the response of the operation, as RFC 9457 problem details. {@code retryable}: a retry
 * with the same key may succeed later. {@code safe_new_key}: the request had no effect under this key, so a request
 * with a new key cannot cause the effect twice.
 */
enum HttpProblem {
    MISSING_KEY(
            400,
            false,
            true,
            "The Idempotency-Key is missing",
            "This operation needs an Idempotency-Key header. Nothing was done."),
    INVALID_KEY(
            400,
            false,
            true,
            "The Idempotency-Key is not acceptable",
            "Send one Idempotency-Key header with a string of at most 255 printable ASCII characters, in the form that this operation documents. Nothing was done."),
    KEY_TOO_OLD(
            400,
            false,
            false,
            "The Idempotency-Key is too old",
            "The time of the key is outside the retention of keys, so the server cannot tell whether it was used. Nothing was done now; find out whether it was used before you use another key."),
    NO_CALLER(
            401,
            false,
            false,
            "The caller is not authenticated",
            "Keys belong to a caller. Authenticate, and send the same key again."),
    METHOD_NOT_ALLOWED(405, false, true, "The method is not allowed", "Nothing was done."),
    IN_PROGRESS(
            409,
            true,
            false,
            "The request is in progress",
            "The first request with this key has not finished. Send this one again later, with the same key."),
    RESULT_EXPIRED(
            409,
            false,
            false,
            "The result is no longer kept",
            "The request with this key was done, but its result is past its time. It is not run again."),
    RESULT_OMITTED(
            409,
            false,
            false,
            "The result was not kept",
            "The request with this key was done, but its result was too large to be kept. It is not run again."),
    OUTCOME_UNKNOWN(
            409,
            false,
            false,
            "The outcome is not known",
            "The request with this key began, and may or may not have had its effect. It is not run again; ask with the operation_ref."),
    REQUEST_TOO_LARGE(
            413,
            false,
            true,
            "The request is too large",
            "Its body is larger than what this operation takes. Nothing was done."),
    KEY_REUSED(
            422,
            false,
            false,
            "The Idempotency-Key was used for another request",
            "Nothing was done now, but the first request with this key may have been. If this is the same request written differently, send the first bytes again; take a new key only for a different request."),
    REJECTED(422, false, false, "The request was rejected", "The answer is no, for every repeat with this key too."),
    SCOPE_UNRESOLVED(
            500,
            false,
            false,
            "The caller or the tenant could not be told",
            "The server cannot tell whom this key belongs to. Nothing was done."),
    HANDLER_FAILED(
            500,
            true,
            false,
            "The request failed",
            "Whatever it did was rolled back. Send it again later, with the same key."),
    RESULT_UNREADABLE(
            500,
            true,
            false,
            "The result cannot be read",
            "The request with this key was done, but the server cannot read its result. It is not run again. Send it again later, with the same key."),
    ANSWER_NOT_RECORDABLE(
            500,
            false,
            false,
            "The answer cannot be kept",
            "It is too large, or a stream, so what the request did was rolled back."),
    STORE_UNAVAILABLE(
            503,
            true,
            false,
            "Keys cannot be looked up",
            "The server cannot reach the store of its keys. Send the request again later, with the same key."),
    TRANSACTION_CONFLICT(
            503,
            true,
            false,
            "The request gave way to another",
            "Whatever it did was rolled back. Send it again, with the same key.");

    private final int status;
    private final boolean retryable;
    private final boolean safeNewKey;
    private final String title;
    private final String detail;

    HttpProblem(int status, boolean retryable, boolean safeNewKey, String title, String detail) {
        this.status = status;
        this.retryable = retryable;
        this.safeNewKey = safeNewKey;
        this.title = title;
        this.detail = detail;
    }

    /** The stable code, for programs. */
    String code() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * @param base the beginning of the URI of the problem type
     * @param reference the reference of the command, for callers that may see it
     */
    KeyedResponse answer(String base, @Nullable UUID reference) {
        return answer(base, reference, detail);
    }

    /** @param detail a text for people that replaces the detail of this problem */
    KeyedResponse answer(String base, @Nullable UUID reference, String detail) {
        StringBuilder json = new StringBuilder("{");
        text(json, "type", base + code());
        text(json, "title", title);
        json.append("\"status\":").append(status).append(',');
        text(json, "detail", detail);
        text(json, "code", code());
        if (reference != null) {
            text(json, "operation_ref", reference.toString());
        }
        json.append("\"retryable\":").append(retryable);
        json.append(",\"safe_new_key\":").append(safeNewKey).append('}');
        return KeyedResponse.of(
                status,
                Map.of(
                        "Content-Type", List.of("application/problem+json"),
                        "Content-Language", List.of("en"),
                        "Cache-Control", List.of("no-store")),
                json.toString().getBytes(UTF_8));
    }

    private static void text(StringBuilder json, String name, String value) {
        Json.quote(json, name);
        json.append(':');
        Json.quote(json, value);
        json.append(',');
    }
}
