package dev.postrider.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadTest {

    @Test
    void textAndJsonAreUtf8() {
        assertThat(Payload.text("ı😀").bytes()).isEqualTo("ı😀".getBytes(UTF_8));
        assertThat(Payload.text("x").contentType()).isEqualTo("text/plain; charset=utf-8");
        assertThat(Payload.json("{}").contentType()).isEqualTo("application/json");
        assertThat(Payload.json("{\"a\":\"ı😀\"}").asText()).isEqualTo("{\"a\":\"ı😀\"}");
    }

    @Test
    void anEmptyPayloadAndASingleByteAreTaken() {
        assertThat(Payload.of(new byte[0], Payload.BINARY).size()).isZero();
        assertThat(Payload.text("").size()).isZero();
        assertThat(Payload.of(new byte[] {0}, Payload.BINARY).bytes()).containsExactly(0);
    }

    @Test
    void bytesThatAreNoUtf8AreKept() {
        byte[] bytes = {(byte) 0xff, (byte) 0xfe};

        assertThat(Payload.of(bytes, Payload.JSON).bytes()).containsExactly(0xff, 0xfe);
        assertThat(Payload.of(bytes, Payload.JSON).asText()).isEqualTo("\ufffd\ufffd");
    }

    /** Postrider does not look into payloads: the depth of JSON or a NUL in it is the destination's business. */
    @Test
    void theContentIsNotLookedAt() {
        assertThat(Payload.json("[".repeat(1001)).size()).isEqualTo(1001);
        assertThat(Payload.json("not json").asText()).isEqualTo("not json");
        assertThat(Payload.text("a\u0000b").bytes()).containsExactly('a', 0, 'b');
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\ud83d", "\ude00", "\ude00\ud83d"})
    void halvesOfSurrogatePairsAreRefused(String text) {
        assertThatThrownBy(() -> Payload.text(text))
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo("payload"));
        assertThatThrownBy(() -> Payload.json(text)).isInstanceOf(InvalidMessageException.class);
    }

    @Test
    @SuppressWarnings("NullAway")
    void nullIsNotAnEmptyPayload() {
        assertThatThrownBy(() -> Payload.of(null, Payload.BINARY))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageStartingWith("payload ");
        assertThatThrownBy(() -> Payload.text(null)).isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> Payload.json(null)).isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> Payload.of(new byte[0], null))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageStartingWith("content type ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "text/plain\r\nX-Evil: 1", "a\u0000"})
    void badContentTypesAreRefused(String contentType) {
        assertThatThrownBy(() -> Payload.of(new byte[0], contentType))
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo("content type"));
    }

    @Test
    void equalityIsByContentAndType() {
        assertThat(Payload.text("a")).isEqualTo(Payload.text("a")).hasSameHashCodeAs(Payload.text("a"));
        assertThat(Payload.text("a")).isNotEqualTo(Payload.json("a")).isNotEqualTo(Payload.text("b"));
    }

    @Test
    void itsTextShowsNoContent() {
        assertThat(Payload.text("secret")).hasToString("6 bytes of text/plain; charset=utf-8");
    }
}
