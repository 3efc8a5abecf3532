package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class HttpFingerprintTest {

    private static String of(String method, String path, @Nullable String query, @Nullable String type, String body) {
        Map<String, List<String>> headers = type == null ? Map.of() : Map.of("content-type", List.of(type));
        KeyedRequest call = KeyedRequest.of(method, path, query, headers, null).withBody(body.getBytes(UTF_8));
        return HexFormat.of().formatHex(HttpFingerprint.of(call));
    }

    private static String base() {
        return of("POST", "/payments", "a=1&b=2", "application/json", "{}");
    }

    /** Keys outlive a release: a recipe that changes under the same name turns retries into other requests. */
    @Test
    void recipeStaysWhatItIs() {
        assertThat(base()).isEqualTo("b1c7d66b8df6cb11ac0d9bbe9c15ada16d9211ce6adce193dbcd92d2901bd78f");
    }

    @Test
    void eachPartCounts() {
        assertThat(List.of(
                        base(),
                        of("PATCH", "/payments", "a=1&b=2", "application/json", "{}"),
                        of("POST", "/payments/1", "a=1&b=2", "application/json", "{}"),
                        of("POST", "/payments", "a=1&b=3", "application/json", "{}"),
                        of("POST", "/payments", null, "application/json", "{}"),
                        of("POST", "/payments", "a=1&b=2", "text/plain", "{}"),
                        of("POST", "/payments", "a=1&b=2", null, "{}"),
                        of("POST", "/payments", "a=1&b=2", "application/json", "{} ")))
                .doesNotHaveDuplicates();
    }

    @Test
    void orderOfParametersCountsWithinANameOnly() {
        assertThat(of("POST", "/payments", "b=2&a=1", "application/json", "{}")).isEqualTo(base());
        assertThat(of("POST", "/p", "a=1&a=2", null, "")).isNotEqualTo(of("POST", "/p", "a=2&a=1", null, ""));
        assertThat(of("POST", "/p", "a=2&b=1&a=1", null, "")).isEqualTo(of("POST", "/p", "b=1&a=2&a=1", null, ""));
    }

    @Test
    void mediaTypeCountsWithoutCaseAndParameters() {
        assertThat(of("POST", "/payments", "a=1&b=2", "APPLICATION/JSON; charset=utf-8", "{}"))
                .isEqualTo(base());
    }

    @Test
    void partsCannotMoveIntoEachOther() {
        assertThat(of("POST", "/ab", null, null, "c")).isNotEqualTo(of("POST", "/a", null, null, "bc"));
        assertThat(of("POST", "/p", "x=1&y=2", null, "")).isNotEqualTo(of("POST", "/p", "x=1", "y=2", ""));
    }
}
