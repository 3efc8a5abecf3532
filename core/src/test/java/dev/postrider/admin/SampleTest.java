package dev.postrider.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SampleTest {

    private static Sample sample() {
        Map<StoredCommand.State, Count> commands = new EnumMap<>(StoredCommand.State.class);
        for (StoredCommand.State state : StoredCommand.State.values()) {
            commands.put(state, Count.exactly(state.name().length()));
        }
        return new Sample(
                Instant.parse("2026-11-19T20:00:00.123456Z"),
                "node \"1\"",
                Duration.ofMillis(12),
                List.of(new TopicSample(
                        TopicName.of("billing/invoices"),
                        true,
                        2,
                        new Count(10_001, false),
                        Count.exactly(2),
                        Count.exactly(3),
                        Count.exactly(4),
                        Count.exactly(5),
                        Count.exactly(6),
                        Count.exactly(7),
                        Count.exactly(8),
                        Count.exactly(9),
                        Count.exactly(10),
                        Duration.ofMillis(11))),
                Count.exactly(1),
                Count.exactly(2),
                commands,
                Count.exactly(3),
                new OldestTransaction("4711", "user app", Duration.ofSeconds(5)));
    }

    @Test
    void jsonOfASampleIsReadBackAsTheSame() {
        assertThat(Sample.ofJson(sample().toJson())).isEqualTo(sample());
    }

    @Test
    void countThatEndedAtItsLimitIsReadable() {
        assertThat(sample().toJson()).contains("\"waiting\":\">=10001\",\"scheduled\":2,");
    }

    @Test
    void membersOfANewerVersionAreIgnored() {
        String newer = sample().toJson().replace("{\"takenAt\"", "{\"shards\":{\"a\":{\"b\":1}},\"takenAt\"");
        assertThat(Sample.ofJson(newer)).isEqualTo(sample());
    }

    @Test
    void textThatIsNoSampleIsRefused() {
        assertThatThrownBy(() -> Sample.ofJson("{}")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Sample.ofJson("[]")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void sumOfCountsIsExactIfBothAre() {
        assertThat(Count.exactly(2).plus(Count.exactly(3))).isEqualTo(Count.exactly(5));
        assertThat(Count.exactly(2).plus(new Count(3, false))).hasToString(">=5");
    }
}
