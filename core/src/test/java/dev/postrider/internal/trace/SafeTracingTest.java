package dev.postrider.internal.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.message.TraceContext;
import dev.postrider.trace.TracedEnd;
import dev.postrider.trace.TracedSpan;
import dev.postrider.trace.TracedStep;
import dev.postrider.trace.Tracing;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class SafeTracingTest {

    private static final TraceContext OWN = context(1);
    private static final TraceContext CREATED = context(2);
    private static final TraceContext ATTEMPT = context(3);

    private static TraceContext context(int span) {
        return new TraceContext("00-0af7651916cd43dd8448eb211c80319c-000000000000000" + span + "-01", null);
    }

    private static Message.Builder message() {
        return Message.to("orders").type("thing").text("x");
    }

    /** Notes its calls. */
    private static final class Recorder implements Tracing, TracedSpan {

        private final List<String> calls = new ArrayList<>();
        private final List<Message> created = new ArrayList<>();

        @Override
        public @Nullable TraceContext created(List<Message> messages) {
            created.addAll(messages);
            return CREATED;
        }

        @Override
        public TracedSpan start(TracedStep step) {
            calls.add("start " + step.getClass().getSimpleName());
            return this;
        }

        @Override
        public @Nullable TraceContext context() {
            return ATTEMPT;
        }

        @Override
        public ActiveSpan enter() {
            calls.add("enter");
            return () -> calls.add("close");
        }

        @Override
        public void end(TracedEnd end) {
            calls.add("end " + end.outcome());
        }
    }

    @Test
    void withoutATracerEveryMessageAndSpanIsTheSameObject() {
        List<Message> messages = List.of(message().build());
        SafeTracing none = SafeTracing.of(null);

        assertThat(none.isOn()).isFalse();
        assertThat(none.traced(messages)).isSameAs(messages);
        assertThat(none.traced(messages.get(0))).isSameAs(messages.get(0));
        assertThat(List.of(
                        none.deliver(messages.get(0), 1),
                        none.handle(messages.get(0), TopicName.of("orders"), 1),
                        none.receive(messages.get(0), "billing"),
                        none.execute("place")))
                .containsOnly(SafeSpan.NONE);
        assertThat(SafeSpan.NONE.isTraced()).isFalse();
        assertThat(SafeSpan.NONE.contextOr(OWN)).isEqualTo(OWN);
        assertThat(SafeSpan.NONE.enter()).isSameAs(SafeSpan.NONE.enter());
    }

    @Test
    void onlyMessagesWithoutAContextGetOne() {
        Recorder recorder = new Recorder();
        Message own = message().trace(OWN).build();
        Message other = message().build();

        List<Message> traced = SafeTracing.of(recorder).traced(List.of(own, other));

        assertThat(traced).extracting(Message::trace).containsExactly(OWN, CREATED);
        assertThat(traced).extracting(Message::id).containsExactly(own.id(), other.id());
        assertThat(recorder.created).containsExactly(other);
    }

    @Test
    void spanIsEnteredAndEndedOnceAndItsContextComesFirst() {
        Recorder recorder = new Recorder();

        SafeSpan span = SafeTracing.of(recorder).deliver(message().build(), 1);
        TracedSpan.ActiveSpan active = span.enter();
        active.close();
        span.end(TracedEnd.of("delivered"));
        span.end(TracedEnd.of("released"));

        assertThat(span.contextOr(OWN)).isEqualTo(ATTEMPT);
        assertThat(recorder.calls).containsExactly("start Deliver", "enter", "close", "end delivered");
    }

    @Test
    void errorTextOfAnEndHasNoSecret() {
        TracedEnd end = TracedEnd.failed(null, new IllegalStateException("password=hunter2\nis wrong"));

        assertThat(end.isFailed()).isTrue();
        assertThat(end.error()).isEqualTo("java.lang.IllegalStateException: password=*** is wrong");
        assertThat(end.toString()).doesNotContain("hunter2");
    }
}
