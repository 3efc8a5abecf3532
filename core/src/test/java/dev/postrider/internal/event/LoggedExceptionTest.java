package dev.postrider.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a stack trace in the log may contain. */
final class LoggedExceptionTest {

    @Test
    void classesAndFramesAreThoseOfTheException() {
        IOException cause = new IOException("refused");
        IllegalStateException failure = new IllegalStateException("not stored", cause);

        LoggedException copy = Objects.requireNonNull(LoggedException.copyOf(failure));

        assertThat(copy).hasToString("java.lang.IllegalStateException: not stored");
        assertThat(failure.getStackTrace()).startsWith(copy.getStackTrace());
        assertThat(copy.getStackTrace()).hasSizeGreaterThan(10);
        assertThat(copy.getCause()).hasToString("java.io.IOException: refused");
        assertThat(printed(failure))
                .startsWith("java.lang.IllegalStateException: not stored")
                .contains(
                        "\tat " + LoggedExceptionTest.class.getName() + ".classesAndFramesAreThoseOfTheException",
                        "Caused by: java.io.IOException: refused");
    }

    @Test
    void messagesHaveNoSecretsAndNoLineBreaks() {
        Exception cause = new Exception("Authorization: Bearer abc.def\nforged line");
        Exception failure = new IOException("jdbc://ann:hunter2@db password=hunter3\r\nforged\u001B[31m", cause);
        failure.addSuppressed(new Exception("token=hunter4"));

        assertThat(printed(failure))
                .contains("java.io.IOException: jdbc://***@db password=*** forged", "Authorization: *** forged line")
                .doesNotContain("hunter", "abc.def", "\nforged", "\r", "\u001B");
    }

    @Test
    void namesInAReceivedStackTraceCannotBreakALine() {
        Exception received = new Exception("remote");
        received.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("a.B\nforged", "run\r\nforged", "B.js?token=hunter2\u2028", 7),
            new StackTraceElement("a.B", "run", null, -2)
        });

        assertThat(printed(received).lines())
                .containsExactly(
                        "java.lang.Exception: remote",
                        "\tat a.B forged.run forged(B.js?token=***:7)",
                        "\tat a.B.run(Native Method)");
    }

    @Test
    void lengthIsLimited() {
        Exception failure = new Exception("x".repeat(1_000_000));
        StackTraceElement[] deep = new StackTraceElement[5000];
        Arrays.fill(deep, new StackTraceElement("a.B", "run", "B.java", 1));
        failure.setStackTrace(deep);
        Exception self = new Exception("round") {
            @Override
            public synchronized Throwable getCause() {
                return this;
            }
        };

        assertThat(printed(failure)).hasSizeLessThan(4000);
        assertThat(printed(self).lines().filter(line -> line.startsWith("Caused by:")))
                .hasSize(4);
    }

    @Test
    void exceptionThatCannotBeReadHasNoStackTrace() {
        Exception hostile = new Exception() {
            @Override
            public String getMessage() {
                throw new IllegalStateException("hostile");
            }
        };

        assertThat(LoggedException.copyOf(hostile)).isNull();
    }

    private static String printed(Throwable failure) {
        StringWriter text = new StringWriter();
        Objects.requireNonNull(LoggedException.copyOf(failure)).printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
