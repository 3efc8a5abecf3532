package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.opentelemetry.OpenTelemetryTracing;
import dev.postrider.transport.DeliveryHandler;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** One trace leads from a request over a handler to the destination of the handler's message. */
public final class TracedOutbox {

    private TracedOutbox() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        OpenTelemetrySdk openTelemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .build();

        DeliveryHandler sender =
                delivery -> say.accept("sent " + delivery.message().type());
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.process((placed, work) -> work.stage(invoice(placed))))
                .topic("invoices", topic -> topic.deliver(sender))
                .tracing(OpenTelemetryTracing.of(openTelemetry))
                .build();
        postrider.migrate();

        Span request =
                openTelemetry.getTracer("shop").spanBuilder("POST /orders").startSpan();
        Context.current()
                .with(request)
                .wrap(() -> postrider.inTransaction(work -> work.stage(new Order(42).placed())))
                .run();
        request.end();
        postrider.deliverDue();

        Map<String, String> names = new HashMap<>();
        exporter.getFinishedSpanItems().forEach(span -> names.put(span.getSpanId(), span.getName()));
        for (SpanData span : exporter.getFinishedSpanItems()) {
            say.accept(span.getName() + ", below " + names.getOrDefault(span.getParentSpanId(), "nothing"));
        }
        openTelemetry.close();
    }

    private static Message invoice(Message placed) {
        return Message.to("invoices")
                .type("invoice.created")
                .json(placed.payload().asText())
                .build();
    }
}
