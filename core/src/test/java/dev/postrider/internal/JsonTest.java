package dev.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    /** Another seed on every run, printed with a failure; {@code -Djson.seed=…} repeats one. */
    @Test
    void whatIsWrittenIsReadBack() {
        long seed = Long.getLong("json.seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 2000; i++) {
            Map<String, String> object = new LinkedHashMap<>();
            for (int members = random.nextInt(6); members > 0; members--) {
                object.put(text(random), text(random));
            }
            String json = Json.write(object);
            assertThat(Json.readStrings(json))
                    .as("seed %d, round %d: %s", seed, i, json)
                    .isEqualTo(object);
        }
    }

    private static String text(SplittableRandom random) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(12); length > 0; length--) {
            switch (random.nextInt(4)) {
                case 0 -> text.append((char) random.nextInt(0x20));
                case 1 -> text.append("\"\\/\u007f\u0085\u2028\ufeff{}:,".charAt(random.nextInt(11)));
                case 2 -> text.append((char) random.nextInt(0x10000));
                default -> text.appendCodePoint(random.nextInt(0x110000));
            }
        }
        return text.toString();
    }

    @Test
    void writesWhatEveryReaderTakes() {
        StringBuilder out = new StringBuilder();
        Json.quote(out, "\"\\\n\r\t\b\f\u0000\u001f/ı😀");

        assertThat(out).hasToString("\"\\\"\\\\\\n\\r\\t\\u0008\\u000c\\u0000\\u001f/ı😀\"");
        assertThat(Json.write(Map.of())).isEqualTo("{}");
    }

    @Test
    void keepsTheOrder() {
        Map<String, String> object = new LinkedHashMap<>();
        object.put("b", "1");
        object.put("a", "2");

        assertThat(Json.write(object)).isEqualTo("{\"b\":\"1\",\"a\":\"2\"}");
        assertThat(Json.readStrings("{\"b\":\"1\",\"a\":\"2\"}")).containsExactlyEntriesOf(object);
    }

    @Test
    void readsEveryEscapeAndBlank() {
        assertThat(
                        Json.readStrings(
                                " \t\r\n{ \"a\" : \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0131\\u004A\\ud83d\\uDE00\" , \"\" : \"\" } \n"))
                .isEqualTo(Map.of("a", "\"\\/\b\f\n\r\tıJ😀", "", ""));
    }

    @Test
    void ofTwoMembersWithOneNameTheLastCounts() {
        assertThat(Json.readStrings("{\"a\":\"1\",\"a\":\"2\"}")).isEqualTo(Map.of("a", "2"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "null",
                "[]",
                "\"a\"",
                "{",
                "}",
                "{}}",
                "{} x",
                "{,}",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1}",
                "{\"a\":null}",
                "{\"a\":{}}",
                "{\"a\":\"b\"",
                "{\"a\":\"b\",}",
                "{\"a\":\"b\" \"c\":\"d\"}",
                "{a:\"b\"}",
                "{'a':'b'}",
                "{\"a\":\"b}",
                "{\"a\":\"\\",
                "{\"a\":\"\\x\"}",
                "{\"a\":\"\\u12\"}",
                "{\"a\":\"\\u12",
                "{\"a\":\"\\u+12f\"}",
                "{\"a\":\"\\u-001\"}",
                "{\"a\":\"\\u\u0661\u0661\u0661\u0661\"}",
                "{\"a\":\"\n\"}",
                "{\"a\":\"\u0000\"}",
                "\ufeff{}",
                "\u2003{}",
                "\u000b{}"
            })
    void everythingElseIsRefused(String text) {
        assertThatThrownBy(() -> Json.readStrings(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("not an object of strings");
    }

    @Test
    void documentWithEveryKindOfValueIsReadBack() {
        String json =
                "{\"text\":\"a\",\"number\":-12,\"yes\":true,\"no\":false,\"none\":null,\"list\":[1,\"b\",[],{}],\"object\":{\"x\":0}}";

        Map<String, Object> document = Json.readDocument(json);

        assertThat(document)
                .containsEntry("number", -12L)
                .containsEntry("yes", true)
                .containsEntry("none", null)
                .containsEntry("list", List.of(1L, "b", List.of(), Map.of()));
        assertThat(Json.writeTree(document)).isEqualTo(json);
    }

    @Test
    void documentHasALimitOfDepth() {
        assertThat(Json.readDocument("{\"a\":" + "[".repeat(32) + "]".repeat(32) + "}"))
                .containsKey("a");
        assertThatThrownBy(() -> Json.readDocument("{\"a\":" + "[".repeat(33) + "]".repeat(33) + "}"))
                .hasMessageContaining("no deeper value expected");
        assertThatThrownBy(() -> Json.readDocument("{\"a\":" + "[".repeat(100_000)))
                .hasMessageContaining("no deeper value expected");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "{\"a\":1,\"a\":2}",
                "{\"a\":{\"b\":1,\"b\":null}}",
                "{\"a\":1.5}",
                "{\"a\":1e9}",
                "{\"a\":01}",
                "{\"a\":-}",
                "{\"a\":+1}",
                "{\"a\":NaN}",
                "{\"a\":nul}",
                "{\"a\":truefalse}",
                "{\"a\":[1,]}",
                "{\"a\":[1}",
                "{\"a\":9999999999999999999}",
                "{\"a\":1}x",
                "\ufeff{}"
            })
    void otherDocumentIsRefused(String text) {
        assertThatThrownBy(() -> Json.readDocument(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("not a JSON object");
    }
}
