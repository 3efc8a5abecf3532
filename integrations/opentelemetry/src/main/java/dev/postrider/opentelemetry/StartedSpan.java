package dev.postrider.opentelemetry;

import dev.postrider.message.TraceContext;
import dev.postrider.trace.TracedEnd;
import dev.postrider.trace.TracedSpan;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import org.jspecify.annotations.Nullable;

/**
 * A span of OpenTelemetry.
 *
 * @param within the context that contains the span; it is current while the span is
 * @param showsErrors whether the error text becomes the description of the status
 */
record StartedSpan(Span span, Context within, boolean showsErrors) implements TracedSpan {

    /** The name of an error that no exception describes, by the conventions. */
    private static final String OTHER = "_OTHER";

    @Override
    public @Nullable TraceContext context() {
        return W3cContext.of(span.getSpanContext());
    }

    @Override
    @SuppressWarnings("MustBeClosedChecker") // the caller closes it
    public ActiveSpan enter() {
        Scope scope = within.makeCurrent();
        return scope::close;
    }

    @Override
    public void end(TracedEnd end) {
        span.setAttribute(Attributes.OUTCOME, end.outcome());
        if (end.reference() != null) {
            span.setAttribute(Attributes.COMMAND_REFERENCE, end.reference().toString());
        }
        String error = end.error();
        if (error != null) {
            Throwable cause = end.cause();
            span.setAttribute(
                    Attributes.ERROR_TYPE,
                    cause == null ? OTHER : cause.getClass().getName());
            span.setStatus(StatusCode.ERROR, showsErrors ? error : "");
        }
        span.end();
    }
}
