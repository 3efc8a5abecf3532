package dev.postrider.opentelemetry;

import static dev.postrider.opentelemetry.RecordedSpans.assertChild;
import static dev.postrider.opentelemetry.RecordedSpans.assertRoot;
import static dev.postrider.opentelemetry.RecordedSpans.contextOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.PermanentFailureException;
import dev.postrider.transport.Transport;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Spans of writing, delivering and processing messages. */
@Timeout(60)
final class AttemptSpansTest {

    private static final RetryPolicy AT_ONCE = RetryPolicy.constant(Duration.ZERO);

    private final RecordedSpans spans = new RecordedSpans();
    private final OpenTelemetryTracing tracing = OpenTelemetryTracing.of(spans.openTelemetry);
    private final List<Delivery> deliveries = new CopyOnWriteArrayList<>();
    private final List<SpanContext> current = new CopyOnWriteArrayList<>();

    private Postrider postrider(UnaryOperator<PostriderBuilder> declaration) {
        Postrider postrider = declaration
                .apply(Postrider.on(Database.open()).tracing(tracing))
                .build();
        postrider.migrate();
        return postrider;
    }

    /** Notes what it gets, and the current span. */
    private void take(Delivery delivery) {
        deliveries.add(delivery);
        current.add(Span.current().getSpanContext());
    }

    private static DeliveryHandler failing(int attempts, RuntimeException failure) {
        return delivery -> {
            if (delivery.attempt() <= attempts) {
                throw failure;
            }
        };
    }

    private static Message.Builder message(String topic) {
        return Message.to(topic).type("thing.happened").text("secret payload");
    }

    private void enqueue(Postrider postrider, Message message) {
        spans.under("request", () -> postrider.inTransaction(work -> work.stage(message)));
    }

    private static Map.Entry<AttributeKey<?>, Object> text(String key, String value) {
        return Map.entry(AttributeKey.stringKey(key), value);
    }

    @Test
    void attemptIsAChildOfTheCreationAndCurrentInItsCallback() {
        Postrider postrider = postrider(builder -> builder.topic("orders", topic -> topic.deliver(this::take)));
        Message order = message("orders")
                .correlationId("talk")
                .tenant("acme")
                .key("ada")
                .idempotencyKey("once")
                .header("x-secret", "secret header")
                .build();

        enqueue(postrider, order);
        postrider.deliverDue();

        SpanData create = spans.only("create orders");
        SpanData send = spans.only("send orders");
        assertChild(create, spans.only("request"));
        assertChild(send, create);
        assertThat(send.getLinks()).isEmpty();
        assertThat(List.of(create, send)).extracting(SpanData::getKind).containsOnly(SpanKind.PRODUCER);
        assertThat(current).extracting(SpanContext::getSpanId).containsExactly(send.getSpanId());
        assertThat(deliveries.get(0).trace()).isEqualTo(contextOf(send));
        assertThat(deliveries.get(0).message().trace()).isEqualTo(contextOf(create));
        assertThat(send.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(send.getAttributes().asMap())
                .containsOnly(
                        text("messaging.system", "postrider"),
                        text("messaging.operation.name", "send"),
                        text("messaging.operation.type", "send"),
                        text("messaging.destination.name", "orders"),
                        text("messaging.message.id", order.id().toString()),
                        text("messaging.message.conversation_id", "talk"),
                        text("postrider.message.type", "thing.happened"),
                        text("postrider.outcome", "delivered"),
                        Map.entry(AttributeKey.longKey("postrider.attempt"), 1L));
    }

    @Test
    void linkedAttemptsBeginTracesOfTheirOwn() {
        Postrider postrider = postrider(builder -> builder.tracing(tracing.relation(Relation.LINK))
                .topic(
                        "orders",
                        topic -> topic.deliver(failing(1, new IllegalStateException()))
                                .retry(AT_ONCE)));

        enqueue(postrider, message("orders").build());
        spans.under("a span of the calling thread", postrider::deliverDue);

        SpanData create = spans.only("create orders");
        List<SpanData> attempts = spans.named("send orders");
        assertThat(attempts).hasSize(2).allSatisfy(attempt -> {
            assertRoot(attempt);
            assertThat(attempt.getLinks())
                    .extracting(LinkData::getSpanContext)
                    .extracting(SpanContext::getTraceId, SpanContext::getSpanId)
                    .containsExactly(tuple(create.getTraceId(), create.getSpanId()));
        });
        assertThat(attempts).extracting(SpanData::getTraceId).doesNotHaveDuplicates();
    }

    @Test
    void everyAttemptIsASpanWithItsOutcome() {
        Postrider postrider = postrider(builder -> builder.topic(
                "orders",
                topic -> topic.deliver(failing(2, new IllegalStateException("of customer 4711")))
                        .retry(AT_ONCE)));

        enqueue(postrider, message("orders").build());
        postrider.deliverDue();

        SpanData create = spans.only("create orders");
        List<SpanData> attempts = spans.named("send orders");
        assertThat(attempts)
                .extracting(
                        attempt -> attempt.getAttributes().get(Attributes.ATTEMPT),
                        attempt -> attempt.getAttributes().get(Attributes.OUTCOME),
                        attempt -> attempt.getAttributes().get(Attributes.ERROR_TYPE),
                        attempt -> attempt.getStatus().getStatusCode())
                .containsExactly(
                        tuple(1L, "retry", "java.lang.IllegalStateException", StatusCode.ERROR),
                        tuple(2L, "retry", "java.lang.IllegalStateException", StatusCode.ERROR),
                        tuple(3L, "delivered", null, StatusCode.UNSET));
        assertThat(attempts).allSatisfy(attempt -> {
            assertChild(attempt, create);
            assertThat(attempt.toString()).doesNotContain("4711");
        });
    }

    @Test
    void deadLettersAndParkedMessagesHaveFailed() {
        Postrider postrider = postrider(builder -> builder.topic(
                        "orders", topic -> topic.deliver(failing(1, new PermanentFailureException("never"))))
                .topic(
                        "accounts",
                        topic -> topic.deliver(failing(1, new IllegalStateException()))
                                .ordered()
                                .onFailure(FailurePolicy.PARK)));

        enqueue(postrider, message("orders").build());
        enqueue(postrider, message("accounts").key("ada").build());
        postrider.deliverDue();

        assertThat(List.of(spans.only("send orders"), spans.only("send accounts")))
                .extracting(
                        attempt -> attempt.getAttributes().get(Attributes.OUTCOME),
                        attempt -> attempt.getStatus().getStatusCode())
                .containsExactly(tuple("buried", StatusCode.ERROR), tuple("parked", StatusCode.ERROR));
    }

    /** Fails without an exception, in another thread. */
    private static final class Refusing implements Transport {

        private volatile SpanContext current = SpanContext.getInvalid();

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            current = Span.current().getSpanContext();
            return CompletableFuture.supplyAsync(() -> DeliveryResult.rejected("the token=abc of ada is refused"));
        }

        @Override
        public Duration timeout() {
            return Duration.ofSeconds(5);
        }
    }

    @Test
    void attemptIsCurrentWhileATransportIsCalled() {
        Refusing refusing = new Refusing();
        Postrider postrider = postrider(builder ->
                builder.tracing(tracing.details(Detail.ERROR_TEXT)).topic("orders", topic -> topic.deliver(refusing)));

        enqueue(postrider, message("orders").build());
        postrider.deliverDue();

        SpanData send = spans.only("send orders");
        assertThat(refusing.current.getSpanId()).isEqualTo(send.getSpanId());
        assertThat(send.getAttributes().get(Attributes.ERROR_TYPE)).isEqualTo("_OTHER");
        assertThat(send.getStatus().getDescription()).isEqualTo("the token=*** of ada is refused");
    }

    @Test
    void detailsAreShownIfAllowed() {
        Postrider postrider = postrider(
                builder -> builder.tracing(tracing.details(Detail.TENANT, Detail.ORDERING_KEY, Detail.IDEMPOTENCY_KEY))
                        .topic("orders", topic -> topic.deliver(this::take)));

        enqueue(
                postrider,
                message("orders")
                        .tenant("acme")
                        .key("ada")
                        .idempotencyKey("once")
                        .build());
        postrider.deliverDue();

        assertThat(List.of(spans.only("create orders"), spans.only("send orders")))
                .allSatisfy(span -> assertThat(span.getAttributes().asMap())
                        .contains(
                                text("postrider.tenant", "acme"),
                                text("postrider.ordering_key", "ada"),
                                text("postrider.idempotency_key", "once")));
    }

    @Test
    void messagesOfOneCallShareTheSpanOfTheirCreation() {
        Postrider postrider = postrider(builder ->
                builder.topic("orders", topic -> topic.deliver(this::take)).topic("audit"));

        spans.under(
                "request",
                () -> postrider.inTransaction(work -> {
                    work.stage(
                            List.of(message("orders").build(), message("orders").build()));
                    work.outbox()
                            .enqueueAll(List.of(
                                    message("orders").build(), message("audit").build()));
                }));
        postrider.deliverDue();

        SpanData pair = spans.only("create orders");
        SpanData mixed = spans.only("create");
        assertThat(List.of(pair, mixed)).allSatisfy(create -> {
            assertThat(create.getAttributes().get(Attributes.BATCH_COUNT)).isEqualTo(2);
            assertThat(create.getAttributes().get(Attributes.MESSAGE_ID)).isNull();
        });
        assertThat(spans.named("send orders"))
                .extracting(SpanData::getParentSpanId)
                .containsExactlyInAnyOrder(pair.getSpanId(), pair.getSpanId(), mixed.getSpanId());
    }

    @Test
    void withoutSpansForWritingTheCurrentSpanIsStored() {
        Postrider postrider = postrider(builder ->
                builder.tracing(tracing.createSpans(false)).topic("orders", topic -> topic.deliver(this::take)));

        enqueue(postrider, message("orders").build());
        postrider.deliverDue();

        assertThat(spans.names()).containsExactly("request", "send orders");
        assertChild(spans.only("send orders"), spans.only("request"));
    }

    @Test
    void withoutACurrentSpanNothingIsStored() {
        Postrider postrider = postrider(builder -> builder.topic("orders", topic -> topic.deliver(this::take)));

        postrider.inTransaction(work -> work.stage(message("orders").build()));
        postrider.deliverDue();

        assertThat(spans.names()).containsExactly("send orders");
        assertRoot(spans.only("send orders"));
        assertThat(deliveries.get(0).message().trace()).isNull();
        assertThat(deliveries.get(0).trace()).isEqualTo(contextOf(spans.only("send orders")));
    }

    @Test
    void traceContextOfTheApplicationIsKept() {
        TraceContext own = new TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b");
        Postrider postrider = postrider(builder -> builder.topic("orders", topic -> topic.deliver(this::take)));

        enqueue(postrider, message("orders").trace(own).build());
        postrider.deliverDue();

        assertThat(spans.names()).containsExactly("request", "send orders");
        assertThat(deliveries.get(0).message().trace()).isEqualTo(own);
        assertThat(spans.only("send orders").getParentSpanContext().getSpanId()).isEqualTo("b7ad6b7169203331");
        assertThat(deliveries.get(0).trace())
                .extracting(TraceContext::tracestate)
                .isEqualTo("a=b");
    }

    @Test
    void messageOfACallbackJoinsItsTrace() {
        Postrider[] postrider = new Postrider[1];
        postrider[0] = postrider(builder -> builder.topic(
                        "orders",
                        topic -> topic.deliver(delivery -> postrider[0].inTransaction(
                                work -> work.stage(message("invoices").build()))))
                .topic("invoices", topic -> topic.deliver(this::take)));

        enqueue(postrider[0], message("orders").build());
        postrider[0].deliverDue();

        assertChild(spans.only("create invoices"), spans.only("send orders"));
        assertChild(spans.only("send invoices"), spans.only("create invoices"));
    }

    @Test
    void messageOfAHandlerJoinsItsTraceAndItsCauseIsKept() {
        Postrider postrider = postrider(builder -> builder.topic(
                        "orders",
                        topic -> topic.process((order, work) -> {
                                    current.add(Span.current().getSpanContext());
                                    work.stage(message("invoices").build());
                                })
                                .ordered())
                .topic("invoices", topic -> topic.deliver(this::take)));
        Message order = message("orders").key("ada").build();

        enqueue(postrider, order);
        postrider.deliverDue();

        SpanData process = spans.only("process orders");
        assertThat(process.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(process.getAttributes().get(Attributes.OUTCOME)).isEqualTo("delivered");
        assertThat(current).extracting(SpanContext::getSpanId).startsWith(process.getSpanId());
        assertChild(process, spans.only("create orders"));
        assertChild(spans.only("create invoices"), process);
        assertChild(spans.only("send invoices"), spans.only("create invoices"));
        assertThat(deliveries.get(0).message().causationId())
                .isEqualTo(order.id().toString());
    }

    @Test
    void messageOfATopicIsDeliveredIntoAnInboxAndProcessedByEachHandler() {
        Postrider postrider = postrider(builder -> builder.topic("orders", topic -> topic.toInbox("billing"))
                .inbox(
                        "billing",
                        inbox -> inbox.handler("invoice", "*", (order, work) -> {})
                                .handler(
                                        "notify",
                                        List.of("*"),
                                        (order, work) -> failOnce(),
                                        options -> options.retry(AT_ONCE))));

        enqueue(postrider, message("orders").build());
        postrider.deliverDue();

        SpanData create = spans.only("create orders");
        assertChild(spans.only("send orders"), create);
        List<SpanData> processed = spans.named("process orders");
        assertThat(processed)
                .extracting(
                        span -> span.getAttributes().get(Attributes.CONSUMER_GROUP),
                        span -> span.getAttributes().get(Attributes.OUTCOME))
                .containsExactlyInAnyOrder(
                        tuple("billing.invoice", "delivered"),
                        tuple("billing.notify", "retry"),
                        tuple("billing.notify", "delivered"));
        assertThat(processed).allSatisfy(process -> assertChild(process, create));
    }

    private void failOnce() {
        current.add(Span.current().getSpanContext());
        if (current.size() == 1) {
            throw new IllegalStateException("not yet");
        }
    }
}
