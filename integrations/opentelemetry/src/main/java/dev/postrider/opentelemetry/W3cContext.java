package dev.postrider.opentelemetry;

import dev.postrider.message.TraceContext;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts between the contexts of OpenTelemetry and the W3C trace context that is stored with a message. */
final class W3cContext {

    private static final W3CTraceContextPropagator W3C = W3CTraceContextPropagator.getInstance();

    private static final String TRACEPARENT = "traceparent";
    private static final String TRACESTATE = "tracestate";

    /** What a message stores. The standard lets a tracestate that is longer be dropped. */
    private static final int LONGEST_TRACESTATE = 512;

    private static final TextMapGetter<TraceContext> FIELDS = new TextMapGetter<>() {

        @Override
        public @Nullable String get(@Nullable TraceContext stored, String key) {
            if (stored == null) {
                return null;
            }
            return switch (key) {
                case TRACEPARENT -> stored.traceparent();
                case TRACESTATE -> stored.tracestate();
                default -> null;
            };
        }
    };

    private W3cContext() {}

    /** Returns null for the context of no span. */
    static @Nullable TraceContext of(SpanContext span) {
        if (!span.isValid()) {
            return null;
        }
        Map<String, String> fields = new HashMap<>();
        W3C.inject(Context.root().with(Span.wrap(span)), fields, Map::put);
        String traceparent = fields.get(TRACEPARENT);
        String tracestate = fields.get(TRACESTATE);
        boolean fits = tracestate != null && tracestate.length() <= LONGEST_TRACESTATE;
        return traceparent == null ? null : new TraceContext(traceparent, fits ? tracestate : null);
    }

    /** Returns the span context that is stored; an invalid one if there is none. */
    static SpanContext stored(@Nullable TraceContext stored) {
        return stored == null
                ? SpanContext.getInvalid()
                : Span.fromContext(W3C.extract(Context.root(), stored, FIELDS)).getSpanContext();
    }
}
