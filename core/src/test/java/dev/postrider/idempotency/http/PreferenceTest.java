package dev.postrider.idempotency.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PreferenceTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "wait=5 > 5",
                "WAIT = 5 > 5",
                "respond-async, wait=10 > 10",
                "wait=10;x=1, respond-async > 10",
                "wait=\"7\" > 7",
                "wait > 0",
                "wait=-1 > 0",
                "wait=soon > 0",
                "wait=99999999999 > 0",
                "await=5 > 0",
            })
    void waitIsRead(String line, long seconds) {
        assertThat(Preference.waitIn(List.of(line))).hasSeconds(seconds);
    }

    @Test
    void linesAreOneList() {
        assertThat(Preference.waitIn(List.of("respond-async", "wait=3"))).hasSeconds(3);
        assertThat(Preference.waitIn(List.of())).isZero();
    }
}
