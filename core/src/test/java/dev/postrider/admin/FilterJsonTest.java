package dev.postrider.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.admin.StoredMessage.State;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FilterJsonTest {

    private static final MessageId ID = MessageId.of("01890a5d-ac96-774b-bcce-b302099a8057");

    private static Filter withEverything() {
        return Filter.in(State.DEAD, State.PARKED)
                .ids(List.of(ID, MessageId.of("01890a5d-ac96-774b-bcce-b302099a8058")))
                .topic(new TopicName("billing", "invoices"))
                .namespace("billing")
                .tenant("acme, \"inc\"")
                .type("invoice.sent")
                .orderingKey("k")
                .idempotencyKey("i")
                .fingerprint("0123456789abcdef")
                .correlationId("c")
                .errorContains("100 % {\"no\": \\ 'route'}")
                .attemptsAtLeast(3)
                .created(Instant.parse("2026-11-19T20:00:00.123456789Z"), null)
                .due(null, Instant.parse("2026-11-20T20:00:00Z"))
                .delivered(Instant.EPOCH, Instant.parse("2026-11-20T20:00:00Z"));
    }

    @Test
    void jsonOfAFilterIsReadBackAsTheSame() {
        assertThat(Filter.ofJson(withEverything().toJson())).isEqualTo(withEverything());
        assertThat(Filter.ofJson(Filter.all().toJson())).isEqualTo(Filter.all());
    }

    @Test
    void everyKindOfConditionIsWritten() {
        assertThat(withEverything().conditions().stream()
                        .map(Object::getClass)
                        .distinct()
                        .count())
                .isEqualTo(Filter.Condition.class.getPermittedSubclasses().length);
        assertThat(withEverything().conditions())
                .as("every attribute and every time")
                .hasSize(4 + Filter.Attribute.values().length + Filter.Time.values().length);
    }

    @Test
    void jsonIsReadable() {
        assertThat(Filter.dead().topic("orders").toJson())
                .isEqualTo("{\"v\":1,\"states\":\"DEAD\",\"topic\":{\"namespace\":\"" + TopicName.DEFAULT_NAMESPACE
                        + "\",\"name\":\"orders\"}}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "{\"v\":2}",
                "{\"v\":\"1\"}",
                "{\"v\":1,\"shard\":\"a\"}",
                "{\"v\":1,\"states\":\"LOST\"}",
                "{\"v\":1,\"states\":\"UNKNOWN\"}",
                "{\"v\":1,\"topic\":\"orders\"}",
                "{\"v\":1,\"topic\":{\"name\":\"orders\"}}",
                "{\"v\":1,\"attempts\":\"3\"}",
                "{\"v\":1,\"attempts\":999999999999}",
                "{\"v\":1,\"ids\":\"x\"}",
                "{\"v\":1,\"tenant\":3}",
                "{\"v\":1,\"delivered\":{}}",
                "{\"v\":1,\"delivered\":{\"to\":\"tomorrow\"}}"
            })
    void whatThisVersionCannotReadIsRefusedAndNotReadAsAWiderFilter(String json) {
        assertThatThrownBy(() -> Filter.ofJson(json)).isInstanceOf(IllegalArgumentException.class);
    }
}
