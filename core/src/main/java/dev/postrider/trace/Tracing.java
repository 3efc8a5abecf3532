package dev.postrider.trace;

import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Connects Postrider with a tracer, such as the one of {@code postrider-opentelemetry}. The implementation must be fast and
 * thread-safe. An exception of a tracer is logged and has no other effect.
 */
public interface Tracing {

    /**
     * Returns the trace context to store with new messages that have none. It is called by the thread that writes the
     * messages, in its transaction, before they are written.
     *
     * @param messages one call of {@code stage} or {@code enqueue}; or received messages, in topics of the inbox
     * @return null to store none
     */
    @Nullable
    TraceContext created(List<Message> messages);

    /** Starts the span of a step. It is called by the thread that begins the step. Another thread may end it. */
    TracedSpan start(TracedStep step);
}
