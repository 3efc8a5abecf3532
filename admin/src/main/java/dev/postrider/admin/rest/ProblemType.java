package dev.postrider.admin.rest;

/** The errors that the API answers. Each is a problem of RFC 9457; those of idempotency keys come from core. */
enum ProblemType {
    BAD_INPUT(400, "The input is not valid"),
    IDEMPOTENCY_UNSUPPORTED(400, "This server keeps no idempotency keys"),
    UNAUTHENTICATED(401, "The operator is not known"),
    FORBIDDEN(403, "The operator may not do this"),
    TENANT_ONLY(403, "The operator is limited to one tenant"),
    CROSS_SITE(403, "The request may come from another site"),
    HOST(403, "Without an authenticator, requests must come from this machine"),
    NOT_FOUND(404, "There is no such thing"),
    NO_ROUTE(404, "There is no such route"),
    UNKNOWN_TOPIC(404, "The topic is not registered"),
    NOT_PUBLISHED(404, "This process publishes no samples"),
    METHOD_NOT_ALLOWED(405, "The route has other methods"),
    NOT_ACCEPTABLE(406, "The answer has another media type"),
    WRONG_STATE(409, "The state does not allow this"),
    BUSY(409, "It is being handled at this moment"),
    IN_USE(409, "The topic is in use"),
    NOT_OPEN(409, "The command is not open"),
    TOO_LARGE(413, "The body is too large"),
    URI_TOO_LONG(414, "The URI is too long"),
    MEDIA_TYPE(415, "The body has another media type"),
    HEADERS_TOO_LARGE(431, "The headers are too large"),
    FAILED(500, "The request failed"),
    STORE_UNAVAILABLE(503, "The database did not do it"),
    CONFLICT(503, "The request gave way to another"),
    TOO_MANY_STREAMS(503, "There are too many event streams");

    private final int status;
    private final String title;

    ProblemType(int status, String title) {
        this.status = status;
        this.title = title;
    }

    int status() {
        return status;
    }

    String title() {
        return title;
    }

    /** The stable code, for programs. */
    String code() {
        return Words.of(this);
    }

    /** Makes a problem with a sentence for people. It must have no text that only the log may have. */
    Problem because(String detail) {
        return new Problem(this, detail, null, null);
    }
}
