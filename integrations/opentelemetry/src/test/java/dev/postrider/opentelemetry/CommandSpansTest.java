package dev.postrider.opentelemetry;

import static dev.postrider.opentelemetry.RecordedSpans.assertChild;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandWork;
import dev.postrider.message.Message;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.assertj.core.groups.Tuple;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Spans of commands. */
final class CommandSpansTest {

    private final RecordedSpans spans = new RecordedSpans();
    private final DataSource database = Database.open();
    private final Postrider postrider = Postrider.on(database)
            .topic("orders")
            .tracing(OpenTelemetryTracing.of(spans.openTelemetry))
            .build();

    @BeforeEach
    void migrate() {
        postrider.migrate();
    }

    private static Command<String> place(String key) {
        return Command.named("orders.place")
                .tenant("acme")
                .caller("ada")
                .key(key)
                .fingerprint("order")
                .returningText();
    }

    private void assertSpans(Tuple... expected) {
        assertThat(spans.named("execute orders.place"))
                .extracting(
                        span -> span.getAttributes().get(Attributes.OUTCOME),
                        span -> span.getAttributes().get(Attributes.COMMAND_REFERENCE),
                        span -> span.getStatus().getStatusCode())
                .containsExactly(expected);
    }

    @Test
    void commandIsASpanWithOperationReferenceAndOutcome() {
        AtomicReference<UUID> reference = new AtomicReference<>();
        CommandWork<String, RuntimeException> work = transaction -> {
            reference.set(transaction.reference());
            transaction.stage(
                    Message.to("orders").type("order.placed").json("{}").build());
            return "placed";
        };

        spans.under("POST /orders", () -> {
            postrider.commands().run(place("1"), work);
            postrider.commands().run(place("1"), work);
        });

        String id = String.valueOf(reference.get());
        assertSpans(tuple("completed", id, StatusCode.UNSET), tuple("replayed", id, StatusCode.UNSET));
        SpanData span = spans.named("execute orders.place").get(0);
        assertThat(span.getKind()).isEqualTo(SpanKind.INTERNAL);
        assertThat(span.getAttributes().get(Attributes.COMMAND_OPERATION)).isEqualTo("orders.place");
        assertThat(span.toString()).doesNotContain("acme").doesNotContain("ada");
        assertChild(span, spans.only("POST /orders"));
        assertChild(spans.only("create orders"), span);
    }

    @Test
    void failedCommandIsAnErrorAndARejectedOneIsNot() {
        AtomicReference<@Nullable UUID> reference = new AtomicReference<>();

        assertThatThrownBy(() -> postrider.commands().run(place("1"), transaction -> {
                    reference.set(transaction.reference());
                    throw new IllegalStateException("down");
                }))
                .isInstanceOf(IllegalStateException.class);
        CommandResult<String> rejected = postrider.commands().lease(place("2"), lease -> {
            throw new CommandRejectedException("there is no such order");
        });

        assertThat(rejected).isInstanceOf(CommandResult.Rejected.class);
        String second = ((CommandResult.Rejected<String>) rejected).reference().toString();
        assertSpans(
                tuple("failed", String.valueOf(reference.get()), StatusCode.ERROR),
                tuple("rejected", second, StatusCode.UNSET));
    }

    @Test
    void joinedCommandIsASpanInTheTransactionOfItsCaller() throws SQLException {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            postrider.commands().join(connection, place("1"), transaction -> "placed");
            connection.commit();
        }

        assertThat(spans.only("execute orders.place").getAttributes().get(Attributes.OUTCOME))
                .isEqualTo("completed");
    }
}
