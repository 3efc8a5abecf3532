package dev.postrider.opentelemetry;

import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.message.TraceContext;
import dev.postrider.trace.TracedSpan;
import dev.postrider.trace.TracedStep;
import dev.postrider.trace.Tracing;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Traces messages and commands with OpenTelemetry:
 *
 * <pre>{@code
 * Postrider postrider = Postrider.on(dataSource).tracing(OpenTelemetryTracing.of(openTelemetry)).build();
 * }</pre>
 *
 * A message that is written under a span stores its trace context. Each attempt to deliver or process a message is a span, which
 * is current while code of the application runs, and whose context goes to the destination. Without a current span nothing is
 * stored, and each attempt begins a trace. Spans have no payload, header, key or tenant. Each configuration method returns a
 * changed copy. Immutable and thread-safe.
 */
public final class OpenTelemetryTracing implements Tracing {

    private static final String INSTRUMENTATION = "dev.postrider";
    private static final String SYSTEM = "postrider";

    private final Tracer tracer;
    private final Options options;

    /** @param createSpans whether writing messages is a span of its own */
    private record Options(Relation relation, boolean createSpans, Set<Detail> details) {

        Options {
            details = Set.copyOf(details);
        }

        boolean has(Detail detail) {
            return details.contains(detail);
        }
    }

    private OpenTelemetryTracing(Tracer tracer, Options options) {
        this.tracer = tracer;
        this.options = options;
    }

    /** Creates tracing in which attempts are children of the stored context, with spans for writing and without details. */
    public static OpenTelemetryTracing of(OpenTelemetry openTelemetry) {
        return new OpenTelemetryTracing(
                openTelemetry.getTracer(INSTRUMENTATION), new Options(Relation.PARENT, true, Set.of()));
    }

    /** Sets how attempts relate to the trace context that is stored with their messages. The default is {@link Relation#PARENT}. */
    public OpenTelemetryTracing relation(Relation relation) {
        return new OpenTelemetryTracing(tracer, new Options(relation, options.createSpans(), options.details()));
    }

    /**
     * Sets whether writing messages is a span of its own, one for each call of {@code stage} or {@code enqueue}. The default is
     * true. Otherwise messages store the context of the current span.
     */
    public OpenTelemetryTracing createSpans(boolean createSpans) {
        return new OpenTelemetryTracing(tracer, new Options(options.relation(), createSpans, options.details()));
    }

    /** Allows details in spans. A further call replaces them. The default is none. */
    public OpenTelemetryTracing details(Detail... details) {
        Set<Detail> allowed = EnumSet.noneOf(Detail.class);
        allowed.addAll(List.of(details));
        return new OpenTelemetryTracing(tracer, new Options(options.relation(), options.createSpans(), allowed));
    }

    // Writing

    @Override
    public @Nullable TraceContext created(List<Message> messages) {
        SpanContext current = Span.current().getSpanContext();
        boolean isReceived = messages.get(0).topic().isOfInbox();
        if (!current.isValid() || isReceived || !options.createSpans()) {
            return W3cContext.of(current);
        }
        Span span = create(messages).startSpan();
        span.end();
        return W3cContext.of(span.getSpanContext());
    }

    private SpanBuilder create(List<Message> messages) {
        Message first = messages.get(0);
        if (messages.size() == 1) {
            return described(messaging("create", first.topic(), SpanKind.PRODUCER), first);
        }
        boolean oneTopic = messages.stream().allMatch(message -> message.topic().equals(first.topic()));
        return messaging("create", oneTopic ? first.topic() : null, SpanKind.PRODUCER)
                .setAttribute(Attributes.BATCH_COUNT, (long) messages.size());
    }

    // Attempts

    @Override
    public TracedSpan start(TracedStep step) {
        if (step instanceof TracedStep.Deliver deliver) {
            return deliver(deliver);
        }
        if (step instanceof TracedStep.Handle handle) {
            return handle(handle);
        }
        return step instanceof TracedStep.Receive receive ? receive(receive) : execute((TracedStep.Execute) step);
    }

    private TracedSpan deliver(TracedStep.Deliver step) {
        Message message = step.message();
        SpanBuilder span = described(messaging("send", message.topic(), SpanKind.PRODUCER), message)
                .setAttribute(Attributes.ATTEMPT, (long) step.attempt());
        return startedApart(span, message);
    }

    private TracedSpan handle(TracedStep.Handle step) {
        Message message = step.message();
        SpanBuilder span = described(messaging("process", message.topic(), SpanKind.CONSUMER), message)
                .setAttribute(Attributes.ATTEMPT, (long) step.attempt());
        if (step.topic().isOfInbox()) {
            span.setAttribute(Attributes.CONSUMER_GROUP, step.topic().topic());
        }
        return startedApart(span, message);
    }

    /**
     * Starts the span of an attempt that the dispatcher makes. What is current in its thread has nothing to do with the message:
     * code of the application may have left it there.
     */
    private TracedSpan startedApart(SpanBuilder span, Message message) {
        SpanContext stored = W3cContext.stored(message.trace());
        relate(span, stored);
        return started(span.startSpan(), Context.root());
    }

    private void relate(SpanBuilder span, SpanContext stored) {
        if (options.relation() == Relation.PARENT && stored.isValid()) {
            span.setParent(Context.root().with(Span.wrap(stored)));
            return;
        }
        span.setNoParent();
        if (stored.isValid()) {
            span.addLink(stored);
        }
    }

    /** The caller's span is the parent, if there is one: it belongs to the request that brought the message. */
    private TracedSpan receive(TracedStep.Receive step) {
        Message message = step.message();
        SpanBuilder span = described(messaging("process", message.topic(), SpanKind.CONSUMER), message)
                .setAttribute(Attributes.CONSUMER_GROUP, step.consumer());
        SpanContext stored = W3cContext.stored(message.trace());
        SpanContext caller = Span.current().getSpanContext();
        if (!caller.isValid()) {
            relate(span, stored);
        } else if (stored.isValid() && !stored.getSpanId().equals(caller.getSpanId())) {
            span.addLink(stored);
        }
        return started(span.startSpan(), Context.current());
    }

    private TracedSpan execute(TracedStep.Execute step) {
        Span span = tracer.spanBuilder("execute " + step.operation())
                .setSpanKind(SpanKind.INTERNAL)
                .setAttribute(Attributes.COMMAND_OPERATION, step.operation())
                .startSpan();
        return started(span, Context.current());
    }

    private TracedSpan started(Span span, Context surrounding) {
        return new StartedSpan(span, surrounding.with(span), options.has(Detail.ERROR_TEXT));
    }

    // Attributes

    /** @param topic null for messages of several topics */
    private SpanBuilder messaging(String operation, @Nullable TopicName topic, SpanKind kind) {
        SpanBuilder span = tracer.spanBuilder(topic == null ? operation : operation + " " + topic)
                .setSpanKind(kind)
                .setAttribute(Attributes.SYSTEM, SYSTEM)
                .setAttribute(Attributes.OPERATION_NAME, operation)
                .setAttribute(Attributes.OPERATION_TYPE, operation);
        return topic == null ? span : span.setAttribute(Attributes.DESTINATION, topic.toString());
    }

    private SpanBuilder described(SpanBuilder span, Message message) {
        span.setAttribute(Attributes.MESSAGE_ID, message.id().toString())
                .setAttribute(Attributes.MESSAGE_TYPE, message.type());
        if (message.correlationId() != null) {
            span.setAttribute(Attributes.CONVERSATION_ID, message.correlationId());
        }
        if (message.tenant() != null && options.has(Detail.TENANT)) {
            span.setAttribute(Attributes.TENANT, message.tenant());
        }
        if (message.key() != null && options.has(Detail.ORDERING_KEY)) {
            span.setAttribute(Attributes.ORDERING_KEY, message.key());
        }
        if (message.idempotencyKey() != null && options.has(Detail.IDEMPOTENCY_KEY)) {
            span.setAttribute(Attributes.IDEMPOTENCY_KEY, message.idempotencyKey());
        }
        return span;
    }
}
