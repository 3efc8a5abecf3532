package dev.postrider.opentelemetry;

import static dev.postrider.opentelemetry.RecordedSpans.assertChild;
import static dev.postrider.opentelemetry.RecordedSpans.contextOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.inbox.InboxWork;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Spans of received messages. */
final class InboxSpansTest {

    private static final InboxWork<RuntimeException> NOTHING = work -> {};

    private final RecordedSpans spans = new RecordedSpans();
    private final Postrider postrider = Postrider.on(Database.open())
            .topic("invoices", topic -> topic.deliver(delivery -> {}))
            .tracing(OpenTelemetryTracing.of(spans.openTelemetry))
            .build();

    @BeforeEach
    void migrate() {
        postrider.migrate();
    }

    private static Message.Builder received(String id) {
        return Message.received("shop/orders", id).type("order.placed").json("{}");
    }

    @Test
    void processingIsAChildOfTheSenderAndParentOfSentMessages() {
        spans.under("sender", () -> {});
        TraceContext stored = contextOf(spans.only("sender"));

        postrider
                .inbox("billing")
                .process(
                        received("1").trace(stored).build(),
                        work -> work.stage(Message.to("invoices")
                                .type("invoice.created")
                                .json("{}")
                                .build()));

        SpanData process = spans.only("process shop/orders");
        assertChild(process, spans.only("sender"));
        assertChild(spans.only("create invoices"), process);
        assertThat(process.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(process.getAttributes().get(Attributes.CONSUMER_GROUP)).isEqualTo("billing");
        assertThat(process.getAttributes().get(Attributes.OUTCOME)).isEqualTo("processed");
    }

    @Test
    void requestThatBroughtAMessageIsTheParentAndTheSenderIsLinked() {
        spans.under("sender", () -> {});
        TraceContext stored = contextOf(spans.only("sender"));

        spans.under(
                "POST /hooks",
                () -> postrider
                        .inbox("billing")
                        .process(received("1").trace(stored).build(), NOTHING));

        SpanData process = spans.only("process shop/orders");
        assertChild(process, spans.only("POST /hooks"));
        assertThat(process.getLinks())
                .extracting(LinkData::getSpanContext)
                .extracting(link -> link.getSpanId())
                .containsExactly(spans.only("sender").getSpanId());
    }

    @Test
    void duplicateIsASpanWithoutAnError() {
        postrider.inbox("billing").process(received("1").build(), NOTHING);
        postrider.inbox("billing").process(received("1").build(), NOTHING);

        SpanData second = spans.named("process shop/orders").get(1);
        assertThat(second.getAttributes().get(Attributes.OUTCOME)).isEqualTo("duplicate");
        assertThat(second.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    }

    @Test
    void failureOfTheWorkIsAnError() {
        InboxWork<IllegalStateException> failing = work -> {
            throw new IllegalStateException("no");
        };

        assertThatThrownBy(
                        () -> postrider.inbox("billing").process(received("1").build(), failing))
                .isInstanceOf(IllegalStateException.class);

        SpanData process = spans.only("process shop/orders");
        assertThat(process.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(process.getAttributes().get(Attributes.ERROR_TYPE)).isEqualTo("java.lang.IllegalStateException");
    }
}
