package dev.postrider.trace;

import dev.postrider.message.TraceContext;
import org.jspecify.annotations.Nullable;

/** The span of a step. Several threads may use it. */
public interface TracedSpan {

    /** Returns the trace context of this span, which a delivery passes on to its destination; null to pass on the stored one. */
    @Nullable
    TraceContext context();

    /** Makes this span the current one of the calling thread, while code of the application runs there. */
    ActiveSpan enter();

    /** Ends the span. Called once. */
    void end(TracedEnd end);

    /** A span that is current in a thread. */
    @FunctionalInterface
    interface ActiveSpan {

        /** Makes the former span of the thread current again. Called once, by the same thread. */
        void close();
    }
}
