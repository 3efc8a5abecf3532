package dev.postrider.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicNameTest {

    @ParameterizedTest
    @ValueSource(strings = {"orders", "O", "9", "a.b-c_d", "sales/orders", "constructor"})
    void namesAreReadAndWrittenTheSame(String name) {
        assertThat(TopicName.of(name)).hasToString(name);
    }

    @Test
    void theDefaultNamespaceIsNotWritten() {
        assertThat(TopicName.of("default/orders"))
                .isEqualTo(TopicName.of("orders"))
                .hasToString("orders");
        assertThat(TopicName.of("orders").namespace()).isEqualTo("default");
    }

    @Test
    void caseMatters() {
        assertThat(TopicName.of("Orders")).isNotEqualTo(TopicName.of("orders"));
        assertThat(TopicName.of("INBOX")).isNotEqualTo(TopicName.of("inbox"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "a b",
                "orders ",
                " orders",
                "a\nb",
                "orders\n",
                "a\u0000",
                "-a",
                ".",
                "..",
                "_a",
                "ş",
                "ı",
                "оrders",
                "😀",
                "a:b",
                "<script>",
                "%00",
                "a'b",
                "a;b"
            })
    void badTopicsAreRefused(String name) {
        assertRefused("topic", () -> TopicName.of(name));
        assertRefused("namespace", () -> TopicName.of(name + "/orders"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/", "a/b/c", "a//b"})
    void thereIsAtMostOneSlash(String name) {
        assertRefused("topic", () -> TopicName.of(name));
    }

    @Test
    void aHundredCharactersAreTheLimit() {
        assertThat(TopicName.of("x".repeat(100)).topic()).hasSize(100);
        assertRefused("topic", () -> TopicName.of("x".repeat(101)));
        assertThatThrownBy(() -> TopicName.of("x".repeat(10_000)))
                .extracting(Throwable::getMessage)
                .asString()
                .hasSizeLessThan(250);
    }

    @Test
    @SuppressWarnings("NullAway")
    void aMissingNameIsRefused() {
        assertRefused("topic", () -> TopicName.of(null));
        assertRefused("topic", () -> new TopicName("a", null));
        assertRefused("namespace", () -> new TopicName(null, "a"));
    }

    @Test
    void sortsByNamespaceThenTopic() {
        List<TopicName> sorted = List.of("b/a", "a/b", "z", "a/a").stream()
                .map(TopicName::of)
                .sorted()
                .toList();

        assertThat(sorted).extracting(TopicName::toString).containsExactly("a/a", "a/b", "b/a", "z");
    }

    private static void assertRefused(String field, Runnable code) {
        assertThatThrownBy(code::run)
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo(field))
                .extracting(Throwable::getMessage)
                .asString()
                .doesNotContainPattern("\\p{Cc}");
    }
}
