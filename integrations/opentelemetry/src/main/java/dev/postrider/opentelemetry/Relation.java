package dev.postrider.opentelemetry;

/** How the span of an attempt relates to the trace context that is stored with its message. */
public enum Relation {
    /** The attempt is a child: one trace leads from the request to the receivers of its messages, over all retries. */
    PARENT,
    /**
     * The attempt begins a trace of its own, with a link to the stored context. It suits messages that wait for hours, and is
     * what the conventions of OpenTelemetry recommend.
     */
    LINK
}
