package dev.postrider.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway") // What happens to nulls is part of the subject.
class TraceContextTest {

    private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    @Test
    void isKeptAsItIs() {
        TraceContext trace = new TraceContext(PARENT, "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");

        assertThat(trace.traceparent()).isEqualTo(PARENT);
        assertThat(trace.tracestate()).isEqualTo("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " "})
    void anEmptyTracestateIsNone(String tracestate) {
        assertThat(new TraceContext(PARENT, tracestate).tracestate()).isNull();
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {
                "",
                "00",
                "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra"
            })
    void aTraceparentOfAnotherFormIsRefused(String traceparent) {
        assertThatThrownBy(() -> new TraceContext(traceparent, null))
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo("traceparent"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a=1\r\nX-Evil: 1", "a=😀", "a=ş", "a=\u0000"})
    void aTracestateHttpCannotCarryIsRefused(String tracestate) {
        assertThatThrownBy(() -> new TraceContext(PARENT, tracestate))
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo("tracestate"));
    }

    @Test
    void aTracestateHas512CharactersAtMost() {
        assertThat(new TraceContext(PARENT, "x".repeat(512)).tracestate()).hasSize(512);
        assertThatThrownBy(() -> new TraceContext(PARENT, "x".repeat(513))).isInstanceOf(InvalidMessageException.class);
    }
}
