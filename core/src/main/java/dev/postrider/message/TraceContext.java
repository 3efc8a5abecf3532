package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The W3C trace context the message was written under. Immutable. */
public record TraceContext(String traceparent, @Nullable String tracestate) {

    private static final Pattern TRACEPARENT = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

    public TraceContext {
        if (traceparent == null || !TRACEPARENT.matcher(traceparent).matches()) {
            throw new InvalidMessageException("traceparent", "is not one of W3C form: " + Text.excerpt(traceparent));
        }
        tracestate = Text.optional("tracestate", tracestate, 512);
    }
}
