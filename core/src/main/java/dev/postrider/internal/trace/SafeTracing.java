package dev.postrider.internal.trace;

import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.message.TraceContext;
import dev.postrider.trace.TracedSpan;
import dev.postrider.trace.TracedStep;
import dev.postrider.trace.Tracing;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tracer of the application, or none. An exception of the tracer is logged, and the work continues without a span.
 * Without a tracer no object is made. Thread-safe.
 */
public final class SafeTracing {

    private static final Logger log = LoggerFactory.getLogger(SafeTracing.class);

    /** No tracer. */
    public static final SafeTracing NONE = new SafeTracing(null);

    private final @Nullable Tracing tracing;
    private final AtomicBoolean hasFailed = new AtomicBoolean();

    private SafeTracing(@Nullable Tracing tracing) {
        this.tracing = tracing;
    }

    public static SafeTracing of(@Nullable Tracing tracing) {
        return tracing == null ? NONE : new SafeTracing(tracing);
    }

    /** Whether there is a tracer. */
    public boolean isOn() {
        return tracing != null;
    }

    /** Returns the messages, each with a trace context if the tracer has one for it. */
    public List<Message> traced(List<Message> messages) {
        if (tracing == null) {
            return messages;
        }
        List<Message> without = new ArrayList<>(messages.size());
        for (Message message : messages) {
            if (message.trace() == null) {
                without.add(message);
            }
        }
        TraceContext context = without.isEmpty() ? null : created(tracing, without);
        return context == null
                ? messages
                : messages.stream().map(message -> message.tracedBy(context)).toList();
    }

    /** Returns the message, with a trace context if the tracer has one for it. */
    public Message traced(Message message) {
        return tracing == null ? message : traced(List.of(message)).get(0);
    }

    private @Nullable TraceContext created(Tracing tracer, List<Message> messages) {
        try {
            return tracer.created(List.copyOf(messages));
        } catch (Throwable e) {
            failed(e);
            return null;
        }
    }

    public SafeSpan deliver(Message message, int attempt) {
        return tracing == null ? SafeSpan.NONE : start(tracing, new TracedStep.Deliver(message, attempt));
    }

    public SafeSpan handle(Message message, TopicName topic, int attempt) {
        return tracing == null ? SafeSpan.NONE : start(tracing, new TracedStep.Handle(message, topic, attempt));
    }

    public SafeSpan receive(Message message, String consumer) {
        return tracing == null ? SafeSpan.NONE : start(tracing, new TracedStep.Receive(message, consumer));
    }

    public SafeSpan execute(String operation) {
        return tracing == null ? SafeSpan.NONE : start(tracing, new TracedStep.Execute(operation));
    }

    private SafeSpan start(Tracing tracer, TracedStep step) {
        try {
            TracedSpan span = tracer.start(step);
            return span == null ? SafeSpan.NONE : new SafeSpan(span, this);
        } catch (Throwable e) {
            failed(e);
            return SafeSpan.NONE;
        }
    }

    /** A tracer that fails once may fail for each message. */
    void failed(Throwable failure) {
        if (hasFailed.compareAndSet(false, true)) {
            log.warn("The tracer failed; its further failures are logged at debug", failure);
        } else {
            log.debug("The tracer failed again", failure);
        }
    }
}
