package dev.postrider.server.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.admin.StoredMessage.State;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

final class WordsTest {

    private final Words.ToDuration toDuration = new Words.ToDuration();
    private final Words.ToInstant toInstant = new Words.ToInstant();

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0ms",
        "PT0.85S, 850ms",
        "PT20.9S, 20s",
        "PT3M12S, 3m12s",
        "PT3M, 3m",
        "PT2H5M59S, 2h5m",
        "PT24H, 1d",
        "P9DT3H, 9d3h"
    })
    void durationHasItsTwoLargestUnits(Duration duration, String text) {
        assertThat(Words.of(duration)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"500ms, PT0.5S", "20s, PT20S", "3m12s, PT3M12S", "2h, PT2H", "7d, P7D", "1d2h3m4s5ms, P1DT2H3M4.005S"})
    void durationIsReadAsPeopleWriteIt(String text, Duration duration) {
        assertThat(toDuration.convert(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "20", "s", "PT20S", "12s3m", "-5s", "1.5h", "20 s", "40000d", "9999999d", "999999999h"})
    void whatIsNoDurationIsRefusedWithExamples(String text) {
        assertThatThrownBy(() -> toDuration.convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "'");
    }

    @ParameterizedTest
    @CsvSource({
        "2026-11-19T23:00:00Z, 2026-11-19T23:00:00Z",
        "2026-11-20T00:00:00.5+01:00, 2026-11-19T23:00:00.5Z",
        "2026-11-19, 2026-11-19T00:00:00Z"
    })
    void timeIsReadInUtcWhateverTheTimeZoneOfThisComputer(String text, Instant time) {
        assertThat(toInstant.convert(text)).isEqualTo(time);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "yesterday", "2026-13-01", "2026-11-19 23:00", "2026-11-19T23:00:00", "23:00"})
    void whatIsNoTimeIsRefused(String text) {
        assertThatThrownBy(() -> toInstant.convert(text)).isInstanceOf(TypeConversionException.class);
    }

    @Test
    void stateIsReadInAnyCaseAndUnknownIsNone() {
        Words.ToState toState = new Words.ToState();

        assertThat(toState.convert("Dead")).isEqualTo(State.DEAD);
        assertThatThrownBy(() -> toState.convert("unknown")).hasMessageContaining("pending, scheduled");
    }
}
