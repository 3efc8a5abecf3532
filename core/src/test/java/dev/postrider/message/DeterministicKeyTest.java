package dev.postrider.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeterministicKeyTest {

    private static final Path DOCUMENT =
            Path.of(System.getProperty("basedir", "."), "..", "docs", "deterministic-keys.md");

    @Test
    void agreesWithThePublishedVectors() throws IOException {
        List<List<String>> rows = rows(6);

        assertThat(rows).hasSizeGreaterThanOrEqualTo(10);
        for (List<String> row : rows) {
            UUID key = DeterministicKey.of(
                    cell(row.get(0)), text(row.get(1)), text(row.get(2)), text(row.get(3)), text(row.get(4)));
            assertThat(key).as(row.toString()).hasToString(row.get(5));
        }
        assertThat(new HashSet<>(rows.stream().map(row -> row.get(5)).toList())).hasSameSizeAs(rows);
    }

    @Test
    void agreesWithThePublishedVersionFiveVectors() throws IOException {
        List<List<String>> rows = rows(3);

        assertThat(rows).hasSizeGreaterThanOrEqualTo(2);
        for (List<String> row : rows) {
            assertThat(DeterministicKey.nameBased(UUID.fromString(text(row.get(0))), text(row.get(1))))
                    .as(row.toString())
                    .hasToString(row.get(2));
        }
    }

    /** RFC 9562, appendix A.4. */
    @Test
    void agreesWithTheExampleOfTheRfc() {
        UUID dns = UUID.fromString("6ba7b810-9dad-11d1-80b4-00c04fd430c8");

        assertThat(DeterministicKey.nameBased(dns, "www.example.com"))
                .hasToString("2ed6657d-e927-568b-95e1-2665a8aea6a2");
    }

    @Test
    void isOfVersionEightAndTheUsualVariant() {
        for (int i = 0; i < 1000; i++) {
            UUID key = DeterministicKey.of("acme", "order", "42", "placed", i);
            assertThat(key.version()).isEqualTo(8);
            assertThat(key.variant()).isEqualTo(2);
        }
    }

    @Test
    void fieldsDoNotRunIntoEachOther() {
        Set<UUID> keys = new HashSet<>(List.of(
                DeterministicKey.of("acme", "a:b", "c", "k", "1"),
                DeterministicKey.of("acme", "a", "b:c", "k", "1"),
                DeterministicKey.of("acme", "ab", "c", "k", "1"),
                DeterministicKey.of("acme", "a", "bc", "k", "1"),
                DeterministicKey.of("acme", "", "abc", "k", "1"),
                DeterministicKey.of("acmea", "", "bc", "k", "1")));

        assertThat(keys).hasSize(6);
    }

    @Test
    void caseSpacesAndUnicodeFormsMatter() {
        Set<UUID> keys = new HashSet<>(List.of(
                DeterministicKey.of("t", "c", "id", "k", "1"),
                DeterministicKey.of("t", "c", "ID", "k", "1"),
                DeterministicKey.of("t", "c", "İD", "k", "1"),
                DeterministicKey.of("t", "c", "id ", "k", "1"),
                DeterministicKey.of("t", "c", "é", "k", "1"),
                DeterministicKey.of("t", "c", "e\u0301", "k", "1")));

        assertThat(keys).hasSize(6);
    }

    @Test
    void noTenantIsNotTheEmptyTenant() {
        assertThat(DeterministicKey.of(null, "c", "e", "k", "1"))
                .isNotEqualTo(DeterministicKey.of("", "c", "e", "k", "1"));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 42, Long.MIN_VALUE, Long.MAX_VALUE})
    void aNumericVersionIsItsDigits(long version) {
        assertThat(DeterministicKey.of("t", "c", "e", "k", version))
                .isEqualTo(DeterministicKey.of("t", "c", "e", "k", Long.toString(version)));
    }

    @Test
    void longFieldsAreTaken() {
        assertThat(DeterministicKey.of("acme", "x".repeat(1000), "42", "placed", "1"))
                .hasToString("26240a4b-1fb3-8d6a-be59-b1b28caadf34");
        assertThat(DeterministicKey.of("acme", "x".repeat(1_000_000), "42", "placed", "1"))
                .isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u0000", "\n", "\ud83d", "\ude00\ud83d"})
    void textThatCannotBeStoredIsRefused(String text) {
        assertThatThrownBy(() -> DeterministicKey.of("t", "c", text, "k", "1"))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageStartingWith("key field 'entity' ");
        assertThatThrownBy(() -> DeterministicKey.of(text, "c", "e", "k", "1"))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageStartingWith("key field 'tenant' ");
        assertThatThrownBy(() -> DeterministicKey.nameBased(new UUID(0, 0), text))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageStartingWith("key field 'name' ");
    }

    @Test
    @SuppressWarnings("NullAway")
    void missingFieldsAreNamed() {
        assertRefused("category", () -> DeterministicKey.of("t", null, "e", "k", "1"));
        assertRefused("entity", () -> DeterministicKey.of("t", "c", null, "k", "1"));
        assertRefused("kind", () -> DeterministicKey.of("t", "c", "e", null, "1"));
        assertRefused("version", () -> DeterministicKey.of("t", "c", "e", "k", null));
        assertRefused("name", () -> DeterministicKey.nameBased(new UUID(0, 0), null));
        assertRefused("namespace", () -> DeterministicKey.nameBased(null, "x"));
    }

    private static void assertRefused(String field, Runnable code) {
        assertThatThrownBy(code::run)
                .isInstanceOf(InvalidMessageException.class)
                .hasMessage("key field '" + field + "' is missing");
    }

    /** The rows of the document's table with so many columns, without their backticks. */
    private static List<List<String>> rows(int columns) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            if (line.startsWith("| `")) {
                String[] cells = line.substring(2, line.length() - 2).split(" \\| ");
                if (cells.length == columns) {
                    rows.add(List.of(cells).stream()
                            .map(cell -> cell.substring(1, cell.length() - 1))
                            .toList());
                }
            }
        }
        return rows;
    }

    private static @Nullable String cell(String json) {
        return json.equals("null") ? null : text(json);
    }

    private static String text(String json) {
        return Json.readStrings("{\"cell\":" + json + "}").getOrDefault("cell", "");
    }
}
