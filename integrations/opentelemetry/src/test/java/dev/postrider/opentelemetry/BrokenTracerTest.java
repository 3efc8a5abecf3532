package dev.postrider.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import dev.postrider.trace.TracedEnd;
import dev.postrider.trace.TracedSpan;
import dev.postrider.trace.TracedStep;
import dev.postrider.trace.Tracing;
import dev.postrider.transport.Delivery;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a tracer does or fails to do has no effect on messages and commands. */
final class BrokenTracerTest {

    private enum Fault {
        CREATED,
        START,
        CONTEXT,
        ENTER,
        CLOSE,
        END
    }

    /** Fails in one of its methods. */
    private record Broken(Fault fault) implements Tracing, TracedSpan {

        private void failIf(Fault here) {
            if (fault == here) {
                throw new AssertionError("the tracer is broken");
            }
        }

        @Override
        public @Nullable TraceContext created(List<Message> messages) {
            failIf(Fault.CREATED);
            return null;
        }

        @Override
        public TracedSpan start(TracedStep step) {
            failIf(Fault.START);
            return this;
        }

        @Override
        public @Nullable TraceContext context() {
            failIf(Fault.CONTEXT);
            return null;
        }

        @Override
        public ActiveSpan enter() {
            failIf(Fault.ENTER);
            return () -> failIf(Fault.CLOSE);
        }

        @Override
        public void end(TracedEnd end) {
            failIf(Fault.END);
        }
    }

    private final List<Delivery> deliveries = new ArrayList<>();
    private final List<Message> processed = new ArrayList<>();

    private static Message message(String topic) {
        return Message.to(topic).type("thing").text("1").build();
    }

    @ParameterizedTest
    @EnumSource
    void tracerThatThrowsHarmsNoMessage(Fault fault) {
        Postrider postrider = Postrider.on(Database.open())
                .topic("orders", topic -> topic.deliver(deliveries::add))
                .topic(
                        "accounts",
                        topic -> topic.process((message, work) -> {
                            processed.add(message);
                            work.stage(message("orders"));
                        }))
                .tracing(new Broken(fault))
                .build();
        postrider.migrate();
        Command<String> command =
                Command.named("place").anyCaller().key("1").fingerprint("1").returningText();

        String result = postrider
                .commands()
                .run(command, transaction -> {
                    transaction.stage(List.of(message("orders"), message("accounts")));
                    return "placed";
                })
                .orElseThrow();
        Message received = Message.received("shop", "1").type("thing").text("1").build();
        boolean isProcessed = postrider
                .inbox("billing")
                .process(received, work -> work.stage(message("orders")))
                .isProcessed();

        assertThat(postrider.deliverDue()).isEqualTo(4);
        assertThat(result).isEqualTo("placed");
        assertThat(isProcessed).isTrue();
        assertThat(processed).hasSize(1);
        assertThat(deliveries).hasSize(3).allMatch(delivery -> delivery.attempt() == 1);
    }

    @Test
    void withoutATracerNothingIsStoredOrCurrent() {
        RecordedSpans spans = new RecordedSpans();
        List<Context> current = new ArrayList<>();
        Postrider postrider = Postrider.on(Database.open())
                .topic(
                        "orders",
                        topic -> topic.deliver(delivery -> {
                            deliveries.add(delivery);
                            current.add(Context.current());
                        }))
                .build();
        postrider.migrate();

        spans.under("request", () -> postrider.inTransaction(work -> work.stage(message("orders"))));
        postrider.deliverDue();

        assertThat(spans.names()).containsExactly("request");
        assertThat(deliveries).extracting(Delivery::trace).containsOnlyNulls();
        assertThat(current).containsExactly(Context.root());
    }
}
