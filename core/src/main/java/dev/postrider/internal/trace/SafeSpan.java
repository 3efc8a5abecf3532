package dev.postrider.internal.trace;

import dev.postrider.message.TraceContext;
import dev.postrider.trace.TracedEnd;
import dev.postrider.trace.TracedSpan;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A span of the application's tracer, or none. An exception of the tracer is logged and not propagated. Thread-safe. */
public final class SafeSpan {

    /** No span. */
    public static final SafeSpan NONE = new SafeSpan(null, SafeTracing.NONE);

    private static final TracedSpan.ActiveSpan NOTHING = () -> {};

    private final @Nullable TracedSpan span;
    private final SafeTracing tracing;
    private final AtomicBoolean ended = new AtomicBoolean();

    SafeSpan(@Nullable TracedSpan span, SafeTracing tracing) {
        this.span = span;
        this.tracing = tracing;
    }

    /** Whether there is a span. */
    public boolean isTraced() {
        return span != null;
    }

    /** Returns the trace context of the span, or the stored one if there is none. */
    public @Nullable TraceContext contextOr(@Nullable TraceContext stored) {
        if (span == null) {
            return stored;
        }
        try {
            TraceContext context = span.context();
            return context == null ? stored : context;
        } catch (Throwable e) {
            tracing.failed(e);
            return stored;
        }
    }

    /** Makes the span current in this thread until it is closed. */
    public TracedSpan.ActiveSpan enter() {
        if (span == null) {
            return NOTHING;
        }
        try {
            TracedSpan.ActiveSpan active = span.enter();
            return active == null ? NOTHING : () -> close(active);
        } catch (Throwable e) {
            tracing.failed(e);
            return NOTHING;
        }
    }

    private void close(TracedSpan.ActiveSpan active) {
        try {
            active.close();
        } catch (Throwable e) {
            tracing.failed(e);
        }
    }

    /** Ends the span. Only the first call counts. */
    public void end(TracedEnd end) {
        if (span != null && ended.compareAndSet(false, true)) {
            try {
                span.end(end);
            } catch (Throwable e) {
                tracing.failed(e);
            }
        }
    }
}
