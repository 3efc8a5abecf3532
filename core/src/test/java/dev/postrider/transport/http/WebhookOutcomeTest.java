package dev.postrider.transport.http;

import static dev.postrider.transport.http.Deliveries.NOON;
import static dev.postrider.transport.http.Deliveries.deliver;
import static dev.postrider.transport.http.Deliveries.errorOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookOutcomeTest {

    private final Receiver receiver = new Receiver();
    private final Webhook webhook = Webhook.toInternal(receiver.uri());

    @AfterEach
    void stop() {
        receiver.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 202, 204, 299})
    void onlyTwoHundredsAreDelivered(int status) {
        receiver.answers(status, "");

        assertThat(deliver(webhook)).isEqualTo(DeliveryResult.delivered());
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                301, 302, 303, 304, 307, 308, 401, 403, 404, 407, 408, 409, 421, 423, 424, 425, 429, 500, 502, 503, 504,
                599
            })
    void whatMayPassIsTriedAgain(int status) {
        receiver.answers(status, "");

        DeliveryResult result = deliver(webhook);

        assertThat(result).isInstanceOf(DeliveryResult.Failed.class);
        assertThat(errorOf(result)).startsWith("HTTP " + status);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 402, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 422, 428, 431, 451, 499, 501})
    void whatTheMessageItselfCausesIsRejected(int status) {
        receiver.answers(status, "");

        DeliveryResult result = deliver(webhook);

        assertThat(result).isInstanceOf(DeliveryResult.Rejected.class);
        assertThat(errorOf(result)).startsWith("HTTP " + status);
    }

    @Test
    void goneSaysThatTheEndpointIsGone() {
        receiver.answers(410, "bye");

        assertThat(deliver(webhook)).isEqualTo(DeliveryResult.rejected("HTTP 410 (the endpoint is gone): bye"));
    }

    @Test
    void theTableCanBeReplaced() {
        Webhook strict = webhook.permanentStatus(status -> status == 404);

        receiver.answers(404, "");
        assertThat(deliver(strict)).isInstanceOf(DeliveryResult.Rejected.class);
        receiver.answers(400, "");
        assertThat(deliver(strict)).isInstanceOf(DeliveryResult.Failed.class);
        receiver.answers(200, "");
        assertThat(deliver(webhook.permanentStatus(status -> true))).isEqualTo(DeliveryResult.delivered());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/again",
                "http://169.254.169.254/latest/meta-data",
                "file:///etc/passwd",
                "gopher://127.0.0.1:6379/"
            })
    void redirectsAreNotFollowed(String location) {
        receiver.answers(307, "").withHeader("Location", location);

        DeliveryResult result = deliver(webhook);

        assertThat(errorOf(result)).isEqualTo("HTTP 307 (redirects are not followed)");
        assertThat(receiver.received()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "120, PT2M",
        "' 7 ', PT7S",
        "86400, PT24H",
        "86401, PT24H",
        "99999999999999999999999, PT24H",
        "'Sun, 01 Mar 2026 12:10:00 GMT', PT10M",
        "'Fri, 31 Dec 9999 23:59:59 GMT', PT24H"
    })
    void retryAfterIsRespectedUpToADay(String value, String wait) {
        receiver.answers(503, "").withHeader("Retry-After", value);

        assertThat(deliver(webhook.clock(InstantSource.fixed(NOON))))
                .isEqualTo(DeliveryResult.failed("HTTP 503", Duration.parse(wait)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-5",
                "0",
                "soon",
                "1.5",
                "0x10",
                "1e3",
                "Sun, 01 Mar 2026 11:59:59 GMT",
                "Sun, 99 Mar 2026 12:00:00 GMT",
                "2026-03-01T13:00:00Z"
            })
    void retryAfterThatMakesNoSenseIsIgnored(String value) {
        receiver.answers(429, "").withHeader("Retry-After", value);

        assertThat(deliver(webhook.clock(InstantSource.fixed(NOON)))).isEqualTo(DeliveryResult.failed("HTTP 429"));
    }

    @Test
    void theErrorQuotesALittleOfTheBodyAndNothingHarmful() {
        receiver.answers(500, "first\r\nline\u0000\u001b[31mred\u202eback\u2028end " + "😀".repeat(300));

        String error = errorOf(deliver(webhook));

        assertThat(error).startsWith("HTTP 500: first line [31mred back end 😀").endsWith("😀…");
        assertThat(error.length()).isLessThanOrEqualTo("HTTP 500: ".length() + 200);
    }

    @Test
    void theErrorNeverRepeatsAConfiguredHeader() {
        receiver.answers(500, "you sent Bearer s3cr3t-token, or s3cr3t-token");

        assertThat(errorOf(deliver(webhook.header("Authorization", "Bearer s3cr3t-token"))))
                .isEqualTo("HTTP 500: you sent ***, or ***");
    }

    @Test
    void aConnectionIsUsedAgainAfterAnOrderlyAnswer() {
        deliver(webhook);
        receiver.answers(500, "some text");
        deliver(webhook);
        deliver(webhook);

        assertThat(receiver.received().stream()
                        .map(Receiver.Received::remotePort)
                        .distinct())
                .hasSize(1);
    }

    @Test
    void aRefusedConnectionIsTriedAgain() {
        receiver.close();

        DeliveryResult result = deliver(webhook);

        assertThat(result).isInstanceOf(DeliveryResult.Failed.class);
        assertThat(errorOf(result)).contains("ConnectException");
    }
}
