package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The W3C trace context of the code that wrote the message. An empty tracestate, which the standard allows, is
 * treated as missing. Immutable. An invalid value throws {@link InvalidMessageException}.
 */
public record TraceContext(String traceparent, @Nullable String tracestate) {

    private static final Pattern TRACEPARENT = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

    private static final Pattern TRACESTATE = Pattern.compile("[ -~\t]*");

    public TraceContext {
        if (traceparent == null || !TRACEPARENT.matcher(traceparent).matches()) {
            throw new InvalidMessageException("traceparent", "is not in the W3C format: " + Text.excerpt(traceparent));
        }
        tracestate = tracestate == null || tracestate.isBlank() ? null : checked(tracestate);
    }

    private static String checked(String tracestate) {
        if (tracestate.length() > 512 || !TRACESTATE.matcher(tracestate).matches()) {
            throw new InvalidMessageException(
                    "tracestate", "must be at most 512 printable ASCII characters, but is " + Text.excerpt(tracestate));
        }
        return tracestate;
    }
}
