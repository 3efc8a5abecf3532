package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class StatusTextTest {

    @Test
    void agesAreWrittenInTheUnitThatSaysEnough() {
        assertThat(StatusText.age(Duration.ZERO)).isEqualTo("-");
        assertThat(StatusText.age(Duration.ofMillis(1250))).isEqualTo("1.3s");
        assertThat(StatusText.age(Duration.ofSeconds(61))).isEqualTo("1m1s");
        assertThat(StatusText.age(Duration.ofMinutes(125))).isEqualTo("2h5m");
        assertThat(StatusText.age(Duration.ofHours(50))).isEqualTo("2d2h");
    }
}
