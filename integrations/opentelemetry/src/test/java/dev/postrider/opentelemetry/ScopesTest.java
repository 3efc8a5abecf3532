package dev.postrider.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.trace.TracedSpan;
import dev.postrider.trace.TracedStep;
import dev.postrider.trace.Tracing;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The threads of a started node begin each step without a current span, and leave none behind. */
@Timeout(60)
final class ScopesTest {

    private static final int MESSAGES = 50;
    private static final List<String> TOPICS = List.of("callback", "transport", "handler", "ordered");

    private final RecordedSpans spans = new RecordedSpans();
    private final OpenTelemetryTracing tracing = OpenTelemetryTracing.of(spans.openTelemetry);
    private final Set<String> leaks = ConcurrentHashMap.newKeySet();
    private final Set<String> strangers = ConcurrentHashMap.newKeySet();
    private final CountDownLatch delivered = new CountDownLatch(TOPICS.size() * MESSAGES);

    /** Notes the steps of the dispatcher that begin in a thread with a current span. */
    private final class Watching implements Tracing {

        @Override
        public @Nullable TraceContext created(List<Message> messages) {
            return tracing.created(messages);
        }

        @Override
        public TracedSpan start(TracedStep step) {
            if (Context.current() != Context.root()) {
                leaks.add(step + " in " + Thread.currentThread().getName());
            }
            return tracing.start(step);
        }
    }

    /** Answers in the thread of its topic. */
    private final class Answering implements Transport {

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            attempt(delivery.message(), delivery.trace(), delivery.attempt());
            return CompletableFuture.completedFuture(DeliveryResult.delivered());
        }

        @Override
        public Duration timeout() {
            return Duration.ofSeconds(5);
        }
    }

    /** Fails the first attempt of every fifth message. */
    private void attempt(Message message, @Nullable TraceContext trace, int attempt) {
        String current = Span.current().getSpanContext().getSpanId();
        if (trace != null && !trace.traceparent().contains(current)) {
            strangers.add(message.topic() + " under " + current);
        }
        if (attempt == 1 && Integer.parseInt(message.payload().asText()) % 5 == 0) {
            throw new IllegalStateException("not yet");
        }
    }

    private Postrider node() {
        RetryPolicy soon = RetryPolicy.constant(Duration.ofMillis(1));
        return Postrider.on(Database.open())
                .topic(
                        "callback",
                        topic -> topic.deliver(
                                        delivery -> attempt(delivery.message(), delivery.trace(), delivery.attempt()))
                                .retry(soon))
                .topic("transport", topic -> topic.deliver(new Answering()).retry(soon))
                .topic(
                        "handler",
                        topic -> topic.process((message, work) -> attempt(message, null, 2))
                                .retry(soon))
                .topic(
                        "ordered",
                        topic -> topic.deliver(
                                        delivery -> attempt(delivery.message(), delivery.trace(), delivery.attempt()))
                                .ordered()
                                .lanes(2)
                                .retry(soon))
                .tracing(new Watching())
                .dispatch(options -> options.pollInterval(Duration.ofMillis(20)))
                .listener(event -> {
                    if (event instanceof Event.Delivered) {
                        delivered.countDown();
                    }
                })
                .build();
    }

    @Test
    void noSpanStaysCurrentInAThreadOfTheNode() throws InterruptedException {
        try (Postrider postrider = node()) {
            postrider.migrate();
            postrider.start();
            for (int i = 0; i < MESSAGES; i++) {
                String number = Integer.toString(i);
                spans.under("request", () -> postrider.inTransaction(work -> work.stage(messages(number))));
            }
            assertThat(delivered.await(30, TimeUnit.SECONDS)).isTrue();
        }

        assertThat(leaks).isEmpty();
        assertThat(strangers).isEmpty();
        assertThat(Context.current()).isSameAs(Context.root());
        assertThat(spans.named("send callback")).hasSize(MESSAGES + MESSAGES / 5);
        assertThat(spans.named("send ordered")).hasSize(MESSAGES + MESSAGES / 5);
        assertThat(spans.named("process handler")).hasSizeGreaterThanOrEqualTo(MESSAGES);
        assertThat(spans.all())
                .filteredOn(span -> !span.getName().equals("request"))
                .allMatch(span -> span.getParentSpanContext().isValid());
    }

    private static List<Message> messages(String number) {
        List<Message> messages = new ArrayList<>();
        for (String topic : TOPICS) {
            messages.add(Message.to(topic)
                    .type("thing")
                    .key("key-" + number.charAt(0))
                    .text(number)
                    .build());
        }
        return messages;
    }

    @Test
    @SuppressWarnings("MustBeClosedChecker") // the fault of the application
    void spanThatACallbackLeavesCurrentIsNotTheParentOfTheNextAttempt() throws InterruptedException {
        Span forgotten = spans.application.spanBuilder("forgotten").startSpan();
        Postrider postrider = Postrider.on(Database.open())
                .topic(
                        "callback",
                        topic -> topic.deliver(
                                delivery -> Context.root().with(forgotten).makeCurrent()))
                .tracing(tracing)
                .build();
        postrider.migrate();
        Thread caller = new Thread(() -> {
            postrider.inTransaction(work -> work.stage(List.of(one(), one())));
            postrider.deliverDue();
        });

        caller.start();
        caller.join();

        assertThat(spans.named("send callback")).hasSize(2).allSatisfy(RecordedSpans::assertRoot);
    }

    private static Message one() {
        return Message.to("callback").type("thing").text("1").build();
    }
}
