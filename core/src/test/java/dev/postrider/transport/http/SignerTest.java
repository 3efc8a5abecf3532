package dev.postrider.transport.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SignerTest {

    /** The example of the Standard Webhooks specification and its reference libraries. */
    @Test
    void agreesWithTheReferenceVector() {
        Signer signer = Signer.of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        byte[] content =
                Signer.content("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "{\"test\": 2432232314}".getBytes(UTF_8));

        assertThat(signer.sign(content)).isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    /** RFC 8032, 7.1, test 2: one byte, 0x72. */
    @Test
    void agreesWithTheEd25519VectorOfTheRfc() {
        byte[] key = hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
        byte[] signature = hex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");

        assertThat(Signer.of("whsk_" + base64(key)).sign(new byte[] {0x72})).isEqualTo("v1a," + base64(signature));
    }

    @Test
    void signsSoThatTheJdkVerifies() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] content = "content".getBytes(UTF_8);

        String signed = Signer.of("whsk_" + base64(seedOf(pair))).sign(content);

        Signature check = Signature.getInstance("Ed25519");
        check.initVerify(pair.getPublic());
        check.update(content);
        assertThat(check.verify(Base64.getDecoder().decode(signed.substring("v1a,".length()))))
                .isTrue();
    }

    @Test
    void takesASeedWithItsPublicKeyAndRefusesOneWithAnother() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        KeyPair other = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] content = {1, 2};

        assertThat(Signer.of("whsk_" + base64(concat(seedOf(pair), publicOf(pair))))
                        .sign(content))
                .isEqualTo(Signer.of("whsk_" + base64(seedOf(pair))).sign(content));
        assertThatThrownBy(() -> Signer.of("whsk_" + base64(concat(seedOf(pair), publicOf(other)))))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessage("webhook-secret holds a public key that is not its own");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "whsec_",
                "whsk_",
                "hunter2hunter2hunter2hunter2hunter2",
                "whsec_hunter2hunter2hunter2!hunter2hunter2",
                "whsec_hunter2hunter2hunter2hunter2",
                "WHSEC_hunter2hunter2hunter2hunter2hunter2",
                "whpk_hunter2hunter2hunter2hunter2hunter2",
                "whsk_hunter2hunter2hunter2hunter2hunter2"
            })
    void unusableSecretsAreRefusedWithoutQuotingThem(String secret) {
        assertThatThrownBy(() -> Webhook.to(URI.create("https://example.com")).signedWith(secret))
                .isInstanceOfSatisfying(InvalidConfigurationException.class, e -> {
                    assertThat(e.property()).isEqualTo("webhook-secret");
                    StringWriter trace = new StringWriter();
                    e.printStackTrace(new PrintWriter(trace));
                    assertThat(trace.toString()).doesNotContain("hunter2");
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 23, 65})
    void secretsOfTheWrongLengthAreRefused(int length) {
        assertThatThrownBy(() -> Signer.of("whsec_" + base64(new byte[length])))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessage("webhook-secret must hold 24 to 64 bytes after whsec_, but holds " + length);
    }

    @ParameterizedTest
    @ValueSource(ints = {24, 64})
    void secretsOfTheRightLengthAreTaken(int length) {
        assertThat(Signer.of("whsec_" + base64(new byte[length])).sign(new byte[0]))
                .startsWith("v1,");
    }

    @Test
    @SuppressWarnings("NullAway")
    void aMissingSecretIsRefused() {
        assertThatThrownBy(() -> Signer.of(null))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessage("webhook-secret is missing");
    }

    @Test
    void noMoreThanTenSecretsAreTaken() {
        String secret = "whsec_" + base64(new byte[24]);
        Webhook webhook = Webhook.to(URI.create("https://example.com"));
        for (int i = 0; i < 10; i++) {
            webhook = webhook.signedWith(secret);
        }
        Webhook full = webhook;
        assertThatThrownBy(() -> full.signedWith(secret)).isInstanceOf(InvalidConfigurationException.class);
    }

    static byte[] seedOf(KeyPair pair) {
        byte[] pkcs8 = pair.getPrivate().getEncoded();
        return Arrays.copyOfRange(pkcs8, pkcs8.length - 32, pkcs8.length);
    }

    static byte[] publicOf(KeyPair pair) {
        byte[] x509 = pair.getPublic().getEncoded();
        return Arrays.copyOfRange(x509, x509.length - 32, x509.length);
    }

    static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }
}
