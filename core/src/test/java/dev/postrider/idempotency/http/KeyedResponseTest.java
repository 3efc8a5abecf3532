package dev.postrider.idempotency.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class KeyedResponseTest {

    private static final byte[] BODY = {1, 2, 3};

    /** U+010A and U+560D end in the bytes of a line feed and a carriage return. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "s3cr3t\r\nX-Evil: 1",
                "s3cr3t\n x",
                "s3cr3t\r",
                "s3cr3t\u0000",
                "\u007Fs3cr3t",
                "s3cr3t\u010A",
                "s3cr3t\u560D"
            })
    void headerThatHttpCannotCarryIsRefusedWithoutItsValue(String value) {
        assertThatThrownBy(() -> KeyedResponse.of(200, Map.of("Link", List.of("fine", value)), BODY))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Link")
                .hasMessageNotContaining("s3cr3t");
        assertThatThrownBy(() -> KeyedResponse.of(200).header("Link", value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("s3cr3t");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a:b", "a\r\nb", "\u00FCber", "a\u010A"})
    void headerNameThatIsNoTokenIsRefused(String name) {
        assertThatThrownBy(() -> KeyedResponse.of(200, Map.of(name, List.of("x")), BODY))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> KeyedResponse.of(200).header(name, "x")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void headerOfPrintableCharactersAndTabsIsKept() {
        String value = "attachment;\tfilename=\"\u00FC%20\"";
        assertThat(KeyedResponse.of(200, Map.of("X-Name", List.of(value)), BODY).header("x-name"))
                .isEqualTo(value);
        assertThat(KeyedResponse.of(200).header("X-Name", value).header("x-name"))
                .isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(ints = {204, 304})
    void statusThatHasNoBodyDropsIt(int status) {
        assertThat(KeyedResponse.of(status, Map.of(), BODY).body()).isEmpty();
        assertThat(KeyedResponse.json(status, "{}").body()).isEmpty();
    }
}
