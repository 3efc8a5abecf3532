package dev.postrider.idempotency.http;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.idempotency.InvalidCommandException;
import java.net.URI;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class IdempotencyKeySettingsTest {

    private static void refused(String property, UnaryOperator<IdempotencyKey> setting) {
        assertThatThrownBy(() -> setting.apply(IdempotencyKey.required("test")))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("idempotency-key." + property);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Set-Cookie", "set-cookie", "Authorization", "WWW-Authenticate", "Date", "Content-Length"})
    void headerOfOneResponseOrOneCallerIsNeverKept(String name) {
        refused("replaying", key -> key.replaying(name));
    }

    @Test
    void whatCannotWorkIsRefusedWhenItIsSaid() {
        refused("replaying", key -> key.replaying("no token"));
        refused("replay-marker", key -> key.replayMarker("a: b"));
        refused("methods", key -> key.alsoFor("GET"));
        refused("shortest-key", key -> key.shortestKey(0));
        refused("shortest-key", key -> key.shortestKey(256));
        refused("largest-request", key -> key.largestRequest(0));
        refused("largest-answer", key -> key.largestAnswer(-1));
        refused("waiting-at-most", key -> key.waitingAtMost(Duration.ofMillis(999)));
        refused("waiting-at-most", key -> key.waitingAtMost(Duration.ofHours(1)));
        refused("documented-at", key -> key.documentedAt(URI.create("/relative")));
        refused("documented-at", key -> key.documentedAt(URI.create("mailto:a@b")));
        assertThatThrownBy(() -> IdempotencyKey.required("test").with(options -> options.lease(Duration.ZERO)))
                .isInstanceOf(InvalidConfigurationException.class);
        assertThatThrownBy(() -> IdempotencyKey.required("test").challenge("Basic\r\nX: y"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> IdempotencyKey.required("")).isInstanceOf(InvalidCommandException.class);
        assertThatThrownBy(() -> IdempotencyKey.optional("x".repeat(101))).isInstanceOf(InvalidCommandException.class);
        assertThatCode(() -> IdempotencyKey.required("x".repeat(100))).doesNotThrowAnyException();
    }
}
