package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class HttpProblemTest {

    private static String json(HttpProblem problem) {
        return new String(problem.answer("https://example.org/", null).body(), UTF_8);
    }

    /** The page that types lead to says of each what it says of itself. */
    @ParameterizedTest
    @EnumSource(HttpProblem.class)
    void problemIsDocumentedAsItIs(HttpProblem problem) throws Exception {
        String page = Files.readString(Path.of("../docs/http-idempotency.md"));
        String retryable = json(problem).contains("\"retryable\":true") ? "yes" : "no";
        String safe = json(problem).contains("\"safe_new_key\":true") ? "yes" : "no";
        assertThat(page)
                .contains("| `" + problem.code() + "` | " + retryable + " | " + safe + " |")
                .contains(problem.answer("", null).status() + " `" + problem.code() + "`");
    }

    @ParameterizedTest
    @EnumSource(HttpProblem.class)
    void problemThatMayHaveHadAnEffectNeverCallsForANewKey(HttpProblem problem) {
        boolean refused = switch (problem) {
            case MISSING_KEY, INVALID_KEY, METHOD_NOT_ALLOWED, REQUEST_TOO_LARGE -> true;
            default -> false;
        };
        assertThat(json(problem).contains("\"safe_new_key\":true")).isEqualTo(refused);
    }

    @ParameterizedTest
    @EnumSource(HttpProblem.class)
    void referenceIsThereIfThereIsOne(HttpProblem problem) {
        UUID reference = UUID.randomUUID();
        assertThat(new String(problem.answer("x", reference).body(), UTF_8))
                .contains("\"operation_ref\":\"" + reference + "\"");
        assertThat(json(problem)).doesNotContain("\"operation_ref\"");
    }
}
