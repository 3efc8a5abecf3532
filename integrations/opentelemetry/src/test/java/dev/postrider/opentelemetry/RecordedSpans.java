package dev.postrider.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.TraceContext;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;

/** OpenTelemetry with spans in memory, and the application's own spans. Thread-safe. */
final class RecordedSpans {

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    final OpenTelemetry openTelemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build())
            .build();
    final Tracer application = openTelemetry.getTracer("application");

    /** Code of the application that runs under a span. */
    @FunctionalInterface
    interface Task<X extends Exception> {
        void run() throws X;
    }

    /** Runs code under a span of the application without a parent. */
    <X extends Exception> void under(String name, Task<X> task) throws X {
        under(name, Context.root(), task);
    }

    @SuppressWarnings("try") // the scope is only closed
    <X extends Exception> void under(String name, Context parent, Task<X> task) throws X {
        Span span = application
                .spanBuilder(name)
                .setSpanKind(SpanKind.SERVER)
                .setParent(parent)
                .startSpan();
        try (Scope scope = span.makeCurrent()) {
            task.run();
        } finally {
            span.end();
        }
    }

    /** The ended spans, in the order of their ends. */
    List<SpanData> all() {
        return exporter.getFinishedSpanItems();
    }

    List<SpanData> named(String name) {
        return all().stream().filter(span -> span.getName().equals(name)).toList();
    }

    SpanData only(String name) {
        List<SpanData> spans = named(name);
        assertThat(spans).as(name + " among " + names()).hasSize(1);
        return spans.get(0);
    }

    List<String> names() {
        return all().stream().map(SpanData::getName).toList();
    }

    static void assertChild(SpanData child, SpanData parent) {
        assertThat(child.getTraceId()).as(child.getName()).isEqualTo(parent.getTraceId());
        assertThat(child.getParentSpanId())
                .as(child.getName() + " below " + parent.getName())
                .isEqualTo(parent.getSpanId());
    }

    static void assertRoot(SpanData span) {
        assertThat(span.getParentSpanContext().isValid()).as(span.getName()).isFalse();
    }

    static TraceContext contextOf(SpanData span) {
        String flags = span.getSpanContext().getTraceFlags().asHex();
        return new TraceContext("00-" + span.getTraceId() + "-" + span.getSpanId() + "-" + flags, null);
    }
}
