package dev.postrider.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PrintableTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\u001b[2J",
                "\u009b31m",
                "\u0007",
                "\r",
                "\u202e",
                "\u2066",
                "\u200f",
                "\u2028",
                "\ufeff",
                "\ud83d",
                "\u007f"
            })
    void whatATerminalActsOnIsEscapedEverywhere(String text) {
        assertThat(Printable.line("a" + text + "b"))
                .startsWith("a\\")
                .endsWith("b")
                .doesNotContain(text);
        assertThat(Printable.lines(text)).doesNotContain(text);
        assertThat(JsonText.of(text)).doesNotContain(text).matches("[ -~]+");
        assertThat(Columns.cell(text)).doesNotContain(text);
    }

    @Test
    void textOfEveryLanguageStaysAsItIs() {
        String text = "größe 漢字 😀 'x' \"y\"";

        assertThat(Printable.line(text)).isEqualTo(text);
        assertThat(Printable.lines("a\n\tb")).isEqualTo("a\n\tb");
        assertThat(Printable.line("a\n\tb")).isEqualTo("a\\n\\tb");
    }

    @Test
    void jsonHasNumbersTimesDurationsAndConstants() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("text", "a\"\\");
        members.put("at", Instant.EPOCH);
        members.put("oldest", Duration.ofSeconds(2));
        members.put("format", Report.Format.ndjson);
        members.put("list", List.of(1, true));
        members.put("none", Map.of());

        assertThat(JsonText.of(members))
                .isEqualTo("{\"text\":\"a\\\"\\\\\",\"at\":\"1970-01-01T00:00:00Z\",\"oldestMillis\":2000,"
                        + "\"format\":\"ndjson\",\"list\":[1,true],\"none\":{}}");
        assertThat(JsonText.of(null)).isEqualTo("null");
    }

    @Test
    void coloursAreForATerminalOfSomeoneWhoWantsThem() {
        assertThat(Terminal.wantsColours(name -> null)).isTrue();
        assertThat(Terminal.wantsColours(name -> name.equals("NO_COLOR") ? "" : "xterm"))
                .isTrue();
        assertThat(Terminal.wantsColours(name -> name.equals("NO_COLOR") ? "1" : null))
                .isFalse();
        assertThat(Terminal.wantsColours(name -> name.equals("TERM") ? "dumb" : null))
                .isFalse();
        assertThat(Terminal.none().colours()).isFalse();
    }
}
