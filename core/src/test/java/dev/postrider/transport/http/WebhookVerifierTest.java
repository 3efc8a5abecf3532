package dev.postrider.transport.http;

import static dev.postrider.transport.http.SignerTest.base64;
import static dev.postrider.transport.http.SignerTest.publicOf;
import static dev.postrider.transport.http.SignerTest.seedOf;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.transport.http.WebhookVerifier.Verification;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookVerifierTest {

    private static final String KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    private static final String OTHER_KEY = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
    private static final long SENT = 1614265330;
    private static final byte[] BODY = "{\"test\": 2432232314}".getBytes(UTF_8);

    private final Map<String, String> headers = new HashMap<>(Map.of(
            "webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp", Long.toString(SENT),
            "webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));

    private static WebhookVerifier at(long secondsLater, String... keys) {
        return WebhookVerifier.with(InstantSource.fixed(Instant.ofEpochSecond(SENT + secondsLater)), keys);
    }

    private Verification verify(WebhookVerifier verifier) {
        return verifier.verify(headers::get, BODY);
    }

    @Test
    void acceptsTheReferenceVector() {
        assertThat(verify(at(0, KEY))).isEqualTo(Verification.VALID);
        assertThat(verify(at(0, KEY)).isValid()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"-360, TOO_NEW", "-301, TOO_NEW", "-300, VALID", "300, VALID", "301, TOO_OLD", "360, TOO_OLD"})
    void acceptsFiveMinutesOfDifferenceAndNoMore(long secondsLater, Verification expected) {
        assertThat(verify(at(secondsLater, KEY))).isEqualTo(expected);
        assertThat(expected.isValid()).isEqualTo(expected == Verification.VALID);
    }

    @Test
    void oneFittingKeyAndOneFittingSignatureAreEnough() {
        headers.merge("webhook-signature", "v1,AAAA v2,unknown junk ", (good, bad) -> bad + good);

        assertThat(verify(at(0, OTHER_KEY, KEY))).isEqualTo(Verification.VALID);
    }

    @Test
    void theOldKeyIsRefusedAfterRotation() {
        assertThat(verify(at(0, OTHER_KEY))).isEqualTo(Verification.MISMATCH);
    }

    @Test
    void aBodyWrittenAnewIsRefused() {
        assertThat(at(0, KEY).verify(headers::get, "{\"test\":2432232314}".getBytes(UTF_8)))
                .isEqualTo(Verification.MISMATCH);
    }

    @ParameterizedTest
    @CsvSource({"webhook-id, msg_other", "webhook-timestamp, 1614265331", "webhook-timestamp, 01614265330"})
    void changedHeadersAreRefused(String name, String value) {
        headers.put(name, value);

        assertThat(verify(at(0, KEY))).isEqualTo(Verification.MISMATCH);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "v1",
                "v1,",
                "v1a,",
                "v1a,AAAA",
                "v1a,!!!!",
                "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE",
                "V1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
            })
    void signaturesThatAreNoneAreRefused(String signature) {
        headers.put("webhook-signature", signature);

        assertThat(verify(at(0, KEY))).isEqualTo(Verification.MISMATCH);
    }

    @ParameterizedTest
    @CsvSource({
        "webhook-timestamp, -1614265330",
        "webhook-timestamp, 1614265330.0",
        "webhook-timestamp, now",
        "webhook-timestamp, 99999999999999999999",
        "webhook-timestamp, ''",
        "webhook-id, ''",
        "webhook-id, a.b"
    })
    void headersThatCannotBeReadAreMalformed(String name, String value) {
        headers.put(name, value);

        assertThat(verify(at(0, KEY))).isEqualTo(Verification.MALFORMED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"webhook-id", "webhook-timestamp", "webhook-signature"})
    void absentHeadersAreMalformed(String name) {
        headers.remove(name);

        assertThat(verify(at(0, KEY))).isEqualTo(Verification.MALFORMED);
    }

    @Test
    void onlyTheFirstTwentySignaturesAreLookedAt() {
        String good = headers.get("webhook-signature");
        headers.put("webhook-signature", "v1,x ".repeat(19) + good);
        assertThat(verify(at(0, KEY))).isEqualTo(Verification.VALID);

        headers.put("webhook-signature", "v1,x ".repeat(20) + good);
        assertThat(verify(at(0, KEY))).isEqualTo(Verification.MISMATCH);
    }

    @Test
    void ed25519SignaturesGoThereAndBack() throws Exception {
        for (int i = 0; i < 20; i++) {
            KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            byte[] content = Signer.content("id", Long.toString(SENT), BODY);
            Map<String, String> request = Map.of(
                    "webhook-id", "id",
                    "webhook-timestamp", Long.toString(SENT),
                    "webhook-signature",
                            Signer.of("whsk_" + base64(seedOf(pair))).sign(content));
            WebhookVerifier verifier = at(0, "whpk_" + base64(publicOf(pair)));

            assertThat(verifier.verify(request::get, BODY)).isEqualTo(Verification.VALID);
            assertThat(verifier.verify(request::get, new byte[0])).isEqualTo(Verification.MISMATCH);
            assertThat(at(0, KEY).verify(request::get, BODY)).isEqualTo(Verification.MISMATCH);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "hunter2",
                "whsec_hunter2",
                "whpk_hunter2!",
                "whpk_AAAA",
                "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
            })
    void keysThatCannotVerifyAreRefusedWithoutQuotingThem(String key) {
        assertThatThrownBy(() -> WebhookVerifier.with(key))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("webhook-secret ")
                .hasMessageNotContaining("hunter2");
    }

    @Test
    void withoutAKeyThereIsNoVerifier() {
        assertThatThrownBy(WebhookVerifier::with).isInstanceOf(InvalidConfigurationException.class);
    }
}
