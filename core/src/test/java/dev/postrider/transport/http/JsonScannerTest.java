package dev.postrider.transport.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonScannerTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "null",
                "true",
                "false",
                "0",
                "-0",
                "-0.5e-10",
                "1E+2",
                "1e999999999",
                "\"\"",
                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uD800\"",
                "\"ş😀\u2028\u007f\"",
                " \t\r\n[ 1 , [ ] , { } , { \"a\" : { \"a\" : [ null ] , \"b\" : 2 } } ] \n",
                "{\"a\":1,\"a\":2}"
            })
    void acceptsJson(String json) {
        assertThat(JsonScanner.problemIn(json)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "}",
                "[",
                "]",
                "[1",
                "[1,",
                "[1,]",
                "[,1]",
                "[1 2]",
                "[1}",
                "{]",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{\"a\":1 \"b\":2}",
                "{a:1}",
                "{'a':1}",
                "{1:1}",
                "{\"a\":1}}",
                "[]]",
                "1 2",
                "1,",
                "nul",
                "nullx",
                "True",
                "NaN",
                "Infinity",
                "-",
                "+1",
                "01",
                "-01",
                "1.",
                ".5",
                "1e",
                "1e+",
                "0x1",
                "١",
                "\"",
                "\"\\",
                "\"\\x\"",
                "\"\\u12\"",
                "\"\\u12G4\"",
                "\"\\u+123\"",
                "\"a\nb\"",
                "\"a\u0000\"",
                "\ufeff{}",
                "\u00a0{}",
                "// comment\n1",
                "undefined"
            })
    void refusesEverythingElse(String text) {
        assertThat(JsonScanner.problemIn(text)).isNotNull();
    }

    @Test
    void takesAThousandLevelsAndNoMore() {
        assertThat(JsonScanner.problemIn("[".repeat(1000) + "1" + "]".repeat(1000)))
                .isNull();
        assertThat(JsonScanner.problemIn("{\"a\":".repeat(1000) + "1" + "}".repeat(1000)))
                .isNull();
        assertThat(JsonScanner.problemIn("[".repeat(1001) + "1" + "]".repeat(1001)))
                .isEqualTo("is nested more than 1000 levels deep");
        assertThat(JsonScanner.problemIn("[".repeat(10_000_000))).isEqualTo("is nested more than 1000 levels deep");
    }

    @Test
    void saysWhereItStumbled() {
        assertThat(JsonScanner.problemIn("[1,x]")).isEqualTo("is not well-formed at character 3");
        assertThat(JsonScanner.problemIn("[1,")).isEqualTo("ends too early");
    }
}
