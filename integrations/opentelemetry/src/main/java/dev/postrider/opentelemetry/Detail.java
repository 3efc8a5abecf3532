package dev.postrider.opentelemetry;

/** What spans do not say unless it is allowed, because it may identify a person or contain text of the application. */
public enum Detail {
    /** The tenant of the message, as {@code postrider.tenant}. */
    TENANT,
    /** The ordering key of the message, as {@code postrider.ordering_key}. */
    ORDERING_KEY,
    /** The idempotency key of the message, as {@code postrider.idempotency_key}. */
    IDEMPOTENCY_KEY,
    /** The error of a failed step, as the description of the span's status: one line, with passwords and tokens redacted. */
    ERROR_TEXT
}
