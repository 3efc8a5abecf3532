package dev.postrider.jdbc.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TraceContext;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MessageAttributesTest {

    private static final Instant TIME = Instant.parse("2026-03-04T05:06:07.890123Z");
    private static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    @Test
    void usualMessageHasNone() {
        assertThat(MessageAttributes.write(message().build(), null)).isNull();
        assertThat(MessageAttributes.read(null).headers()).isEmpty();
        assertThat(MessageAttributes.read("{}")).isEqualTo(MessageAttributes.read(null));
    }

    /** The text stays as it is: other programs, and older and newer versions of this one, read it. */
    @Test
    void everyPartHasItsName() {
        Message message = message()
                .header("b", "2 \"quoted\" \\")
                .header("a", "é😀")
                .correlationId("order-17")
                .causationId("click")
                .trace(new TraceContext(TRACEPARENT, "congo=t61rcWkgMzE"))
                .source("/shop")
                .subject("order 17")
                .occurredAt(TIME)
                .deliverAt(TIME.plusSeconds(60))
                .expiresAt(TIME.plusSeconds(120))
                .build();

        String column = MessageAttributes.write(message, null);

        assertThat(column)
                .isEqualTo(
                        "{\"headers\":{\"a\":\"é😀\",\"b\":\"2 \\\"quoted\\\" \\\\\"},\"correlationId\":\"order-17\","
                                + "\"causationId\":\"click\",\"traceparent\":\"" + TRACEPARENT
                                + "\",\"tracestate\":\"congo=t61rcWkgMzE\",\"source\":\"/shop\",\"subject\":\"order 17\","
                                + "\"occurredAt\":\"2026-03-04T05:06:07.890123Z\",\"deliverAt\":\"2026-03-04T05:07:07.890123Z\","
                                + "\"expiresAt\":\"2026-03-04T05:08:07.890123Z\"}");
        assertThat(MessageAttributes.read(column))
                .isEqualTo(new MessageAttributes(
                        null,
                        false,
                        message.headers(),
                        message.correlationId(),
                        message.causationId(),
                        message.trace(),
                        message.source(),
                        message.subject(),
                        message.occurredAt(),
                        message.deliverAt(),
                        message.expiresAt()));
    }

    @Test
    void timeInTheIdIsNotStoredAgain() {
        Message generated = message().build();
        assertThat(generated.occurredAt()).isEqualTo(generated.id().time());

        MessageId other = MessageId.named("order-17");
        assertThat(MessageAttributes.write(message().id(other).occurredAt(TIME).build(), null))
                .isEqualTo("{\"occurredAt\":\"2026-03-04T05:06:07.890123Z\"}");
        assertThat(MessageAttributes.write(
                        message().id(generated.id()).occurredAt(TIME).build(), null))
                .isEqualTo("{\"occurredAt\":\"2026-03-04T05:06:07.890123Z\"}");
        assertThat(MessageAttributes.write(
                        message()
                                .id(new MessageId(generated.id().value()))
                                .occurredAt(generated.occurredAt())
                                .build(),
                        null))
                .isNull();
    }

    /** The row is then a dead letter: a part that is not understood must not be lost in silence. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"v\":2,\"headers\":{}}|the attributes are of version 2",
                "{\"v\":\"two\"}|the attributes are of version two",
                "{\"encryption\":\"a key\"}|the attribute 'encryption' must be the id of a key",
                "{\"encryption\":7}|the attribute 'encryption' must be a string",
                "{\"priority\":\"7\"}|the attributes have the unknown member 'priority'",
                "{\"headers\":\"a\"}|the attribute 'headers' must be an object of strings",
                "{\"subject\":7}|the attribute 'subject' must be a string",
                "{\"deliverAt\":\"tomorrow\"}|the attribute 'deliverAt' must be a time in ISO 8601",
                "{\"tracestate\":\"congo=t61rcWkgMzE\"}|the attribute 'tracestate' needs the attribute 'traceparent'",
                "{\"traceparent\":\"none\"}|traceparent is not in the W3C format",
                "{\"headers\":{\"a\":1}}|not an object",
                "{\"broken|not an object",
                "none|not an object"
            })
    void whatThisVersionCannotReadIsRefused(String column, String reason) {
        assertThatThrownBy(() -> MessageAttributes.read(column))
                .isInstanceOfAny(IllegalArgumentException.class, InvalidMessageException.class)
                .hasMessageContaining(reason);
    }

    /** MEDIUMTEXT of MySQL and MariaDB holds 16 MB. The limits of the parts keep the column below a hundredth of that. */
    @Test
    void largestAttributesFitTheColumn() {
        Message.Builder largest = message()
                .correlationId("\"".repeat(255))
                .causationId("\"".repeat(255))
                .subject("€".repeat(500))
                .source("/" + "a".repeat(499))
                .trace(new TraceContext(TRACEPARENT, "\"".repeat(512)))
                .occurredAt(TIME)
                .deliverAt(TIME);
        largest.headers(
                Map.of("a", "€".repeat(4000), "b", "€".repeat(4000), "c", "€".repeat(4000), "d", "\"".repeat(4000)));

        String column = Objects.requireNonNull(MessageAttributes.write(largest.build(), null));

        assertThat(column.getBytes(UTF_8).length).isBetween(40_000, 100_000);
    }

    private static Message.Builder message() {
        return Message.to("orders").type("order.placed").json("{}");
    }
}
