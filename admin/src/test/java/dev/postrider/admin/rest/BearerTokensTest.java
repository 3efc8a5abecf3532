package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.postrider.error.InvalidConfigurationException;
import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class BearerTokensTest {

    private static final String TOKEN = "0123456789abcdefghij";
    private static final Operator ANN = Operator.of("ann", Role.VIEWER);

    private final BearerTokens tokens = BearerTokens.none().with(TOKEN, ANN);

    private Optional<Operator> authenticate(String... lines) {
        return tokens.authenticate(new AdminRequest(
                "GET",
                "/v1/me",
                null,
                Map.of("authorization", List.of(lines)),
                InputStream.nullInputStream(),
                new AdminRequest.Sender(null, true)));
    }

    @Test
    void onlyTheWholeTokenIsKnown() {
        assertThat(authenticate("Bearer " + TOKEN)).hasValue(ANN);
        assertThat(authenticate("bearer  " + TOKEN)).hasValue(ANN);
        for (String line : List.of(
                "Bearer",
                "Bearer ",
                TOKEN,
                "Basic " + TOKEN,
                "Bearer " + TOKEN + "x",
                "Bearer " + TOKEN.substring(1),
                "Bearer " + TOKEN.toUpperCase(Locale.ROOT),
                "Bearer " + TOKEN + ", Bearer " + TOKEN)) {
            assertThat(authenticate(line)).as(line).isEmpty();
        }
        assertThat(authenticate("Bearer " + TOKEN, "Bearer " + TOKEN)).isEmpty();
        assertThat(authenticate()).isEmpty();
    }

    @Test
    void tokenThatCanBeGuessedOrIsSharedIsRefusedWithoutShowingIt() {
        for (String token :
                List.of("", "short", "0123456789abcdefghi", "0123456789 abcdefghij", "ü".repeat(30), TOKEN)) {
            assertThatExceptionOfType(InvalidConfigurationException.class)
                    .isThrownBy(() -> tokens.with(token, Operator.of("bob", Role.ADMIN)))
                    .satisfies(e -> assertThat(token.isEmpty()
                                    || !String.valueOf(e.getMessage()).contains(token))
                            .isTrue());
        }
        assertThat(tokens).hasToString("BearerTokens[1]");
    }

    @Test
    void operatorHasAReadableName() {
        for (String name : List.of("", " ", "a\nb", "x".repeat(256))) {
            assertThatExceptionOfType(InvalidConfigurationException.class)
                    .isThrownBy(() -> Operator.of(name, Role.VIEWER));
        }
        assertThatExceptionOfType(InvalidConfigurationException.class).isThrownBy(() -> ANN.inTenant(" "));
    }
}
