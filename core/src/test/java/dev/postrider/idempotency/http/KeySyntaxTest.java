package dev.postrider.idempotency.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class KeySyntaxTest {

    private static final KeySyntax LENIENT = new KeySyntax(false, 1, null);
    private static final KeySyntax STRICT = new KeySyntax(true, 1, null);

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            quoteCharacter = '§',
            value = {
                "\"k\" > k",
                "§   \"k\"   § > k",
                "\"8e03978e-40d5-43dd-bc93-6894a57f9324\" > 8e03978e-40d5-43dd-bc93-6894a57f9324",
                "\"with blank\" > with blank",
                "\"a,b;c\" > a,b;c",
                "\"a\\\"b\\\\c\" > a\"b\\c",
                "\"~\" > ~",
                "\"k\";a > k",
                "\"k\"; a=1 > k",
                "\"k\";a;b=?0;c=\"x;y\" > k",
                "\"k\";n=-12.5;d=@1659578233;t=*tok/en:x > k",
                "\"k\";b=:aGVsbG8=: > k",
                "\"k\";s=%\"f%c3%bc\" > k",
            })
    void stringIsAKeyInBothModes(String line, String key) {
        assertThat(LENIENT.read(List.of(line))).isEqualTo(key);
        assertThat(STRICT.read(List.of(line))).isEqualTo(key);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "8e03978e-40d5-43dd-bc93-6894a57f9324 > 8e03978e-40d5-43dd-bc93-6894a57f9324",
                "k > k",
                "42 > 42",
                "order:42/charge > order:42/charge",
                "aGVsbG8+/w== > aGVsbG8+/w==",
            })
    void keyWithoutQuotesIsTheSameUnlessStrict(String line, String key) {
        assertThat(LENIENT.read(List.of(line))).isEqualTo(key);
        assertThat(LENIENT.read(List.of('"' + key + '"'))).isEqualTo(key);
        assertThat(STRICT.read(List.of(line))).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "\"\"",
                "\" \"",
                "\"",
                "\"k",
                "k\"",
                "\"k\"x",
                "\"k\" x",
                "\"a\", \"b\"",
                "a, b",
                "a b",
                "\"k\\n\"",
                "\"k\\\"",
                "\"k\t\"",
                "\"k\u007f\"",
                "\"ü\"",
                "ü",
                "\tk",
                ";a=1",
                "\"k\";",
                "\"k\";A=1",
                "\"k\";a=",
                "\"k\";a=\"x",
                "\"k\";a=?2",
                "\"k\";a=?",
                "\"k\";a=:x",
                "\"k\";a=:ü:",
                "\"k\";a=1.",
                "\"k\";a=1.2345",
                "\"k\";a=1234567890123456",
                "\"k\";a=@1.5",
                "\"k\";a=(1)",
                "\"k\" ;a",
            })
    void anythingElseIsNoKey(String line) {
        assertThat(LENIENT.read(List.of(line))).as(line).isNull();
        assertThat(STRICT.read(List.of(line))).as(line).isNull();
    }

    @Test
    void keysThatDifferBehindASemicolonAreNotOneKey() {
        assertThat(LENIENT.read(List.of("acme;invoice-1"))).isNull();
        assertThat(LENIENT.read(List.of("acme;invoice-2"))).isNull();
        assertThat(LENIENT.read(List.of("\"acme;invoice-1\""))).isEqualTo("acme;invoice-1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "k;a=1", "k;a", "k; a", "k;", "k;*", "k\"a\"", "k{a}", "k(a)", "k<a>", "k[a]", "k?a", "k\\a",
            })
    void keyWithoutQuotesIsNeverCut(String line) {
        assertThat(LENIENT.read(List.of(line))).as(line).isNull();
        assertThat(STRICT.read(List.of(line))).as(line).isNull();
    }

    @Test
    void severalLinesAreNoKey() {
        assertThat(LENIENT.read(List.of("a", "a"))).isNull();
        assertThat(LENIENT.read(List.of())).isNull();
    }

    @Test
    void lengthIsThatOfTheKeyWithoutItsQuotes() {
        assertThat(LENIENT.read(List.of('"' + "k".repeat(255) + '"'))).hasSize(255);
        assertThat(LENIENT.read(List.of('"' + "k".repeat(256) + '"'))).isNull();
        assertThat(LENIENT.read(List.of('"' + "\\\"".repeat(255) + '"'))).hasSize(255);
        assertThat(new KeySyntax(false, 3, null).read(List.of("ab"))).isNull();
        assertThat(new KeySyntax(false, 3, null).read(List.of("abc"))).isEqualTo("abc");
    }

    @Test
    void patternHoldsForTheWholeKey() {
        KeySyntax digits = new KeySyntax(false, 1, Pattern.compile("[0-9]+"));
        assertThat(digits.read(List.of("\"42\""))).isEqualTo("42");
        assertThat(digits.read(List.of("\"42x\""))).isNull();
    }

    @Test
    void versionOfUuidIsTold() {
        String four = "8e03978e-40d5-43dd-bc93-6894a57f9324";
        String seven = "018f3c5e-40d5-73dd-bc93-6894a57f9324";
        assertThat(new KeySyntax(false, 1, KeySyntax.UUID).read(List.of(four))).isEqualTo(four);
        assertThat(new KeySyntax(false, 1, KeySyntax.UUID_V7).read(List.of(four)))
                .isNull();
        assertThat(new KeySyntax(false, 1, KeySyntax.UUID_V7).read(List.of(seven)))
                .isEqualTo(seven);
    }
}
