package dev.postrider.encryption;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AesGcmPayloadCipherTest {

    private static final byte[] PAYLOAD = "{\"card\":\"4111 1111\"}".getBytes(UTF_8);
    private static final MessageId ID = MessageId.named("order-17");
    private static final TopicName ORDERS = TopicName.of("orders");
    private static final PayloadContext ROW = new PayloadContext(ID, ORDERS, "acme", PAYLOAD.length, false);

    private static byte[] key(int fill) {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) fill);
        return key;
    }

    @Test
    void newestKeyEncryptsAndEveryKeyDecrypts() {
        AesGcmPayloadCipher first = AesGcmPayloadCipher.with("k1", key(1));
        AesGcmPayloadCipher second = AesGcmPayloadCipher.with("k2", key(2)).reading("k1", key(1));
        EncryptedPayload old = first.encrypt(PAYLOAD, ROW);
        EncryptedPayload young = second.encrypt(PAYLOAD, ROW);

        assertThat(old.keyId()).isEqualTo("k1");
        assertThat(young.keyId()).isEqualTo("k2");
        assertThat(second.decrypt(old, ROW)).isEqualTo(PAYLOAD);
        assertThat(second.decrypt(young, ROW)).isEqualTo(PAYLOAD);
        assertThat(new String(old.bytes(), UTF_8)).doesNotContain("4111");
        assertThatThrownBy(() -> first.decrypt(young, ROW))
                .isInstanceOf(PayloadDecryptionException.class)
                .hasMessageContaining("does not have the key 'k2'");
    }

    @Test
    void bytesOfAnotherRowAreRefused() {
        AesGcmPayloadCipher cipher = AesGcmPayloadCipher.with("k1", key(1));
        EncryptedPayload encrypted = cipher.encrypt(PAYLOAD, ROW);
        List<PayloadContext> others = List.of(
                new PayloadContext(MessageId.named("order-18"), ORDERS, "acme", PAYLOAD.length, false),
                new PayloadContext(ID, TopicName.of("other/orders"), "acme", PAYLOAD.length, false),
                new PayloadContext(ID, TopicName.of("invoices"), "acme", PAYLOAD.length, false),
                new PayloadContext(ID, ORDERS, "globex", PAYLOAD.length, false),
                new PayloadContext(ID, ORDERS, null, PAYLOAD.length, false),
                new PayloadContext(ID, ORDERS, "acme", PAYLOAD.length + 1, false),
                new PayloadContext(ID, ORDERS, "acme", PAYLOAD.length, true));

        for (PayloadContext other : others) {
            assertThatThrownBy(() -> cipher.decrypt(encrypted, other))
                    .as("%s", other)
                    .isInstanceOf(PayloadDecryptionException.class)
                    .hasMessageContaining("moved from another row");
        }
        assertThat(new PayloadContext(ID, ORDERS, "", 1, false).authenticated())
                .isNotEqualTo(new PayloadContext(ID, ORDERS, null, 1, false).authenticated());
    }

    @Test
    void everyChangedByteIsRefused() {
        AesGcmPayloadCipher cipher = AesGcmPayloadCipher.with("k1", key(1)).reading("k2", key(1));
        byte[] right = cipher.encrypt(PAYLOAD, ROW).bytes();

        for (int i = 0; i < right.length; i++) {
            byte[] changed = right.clone();
            changed[i] ^= 1;
            byte[] shorter = Arrays.copyOf(right, i);
            assertThatThrownBy(() -> cipher.decrypt(new EncryptedPayload("k1", changed), ROW))
                    .isInstanceOf(PayloadDecryptionException.class);
            assertThatThrownBy(() -> cipher.decrypt(new EncryptedPayload("k1", shorter), ROW))
                    .isInstanceOf(PayloadDecryptionException.class);
        }
        assertThatThrownBy(() -> cipher.decrypt(new EncryptedPayload("k2", right), ROW))
                .as("the id of the key is authenticated")
                .isInstanceOf(PayloadDecryptionException.class);
        assertThatThrownBy(() -> AesGcmPayloadCipher.with("k1", key(9)).decrypt(new EncryptedPayload("k1", right), ROW))
                .isInstanceOf(PayloadDecryptionException.class)
                .hasMessageContaining("another key of the id 'k1'");
    }

    @Test
    void hashesDependOnTheKeyTheMarkAndThePayload() {
        AesGcmPayloadCipher first = AesGcmPayloadCipher.with("k1", key(1));
        AesGcmPayloadCipher second = AesGcmPayloadCipher.with("k2", key(2)).reading("k1", key(1));
        byte[] mark = {1};

        List<byte[]> hashes = second.hashes(PAYLOAD, mark);

        assertThat(hashes).hasSize(2).allMatch(hash -> hash.length == 32);
        assertThat(hashes.get(1)).isEqualTo(first.hashes(PAYLOAD, mark).get(0)).isNotEqualTo(hashes.get(0));
        assertThat(first.hashes(PAYLOAD, new byte[] {2}).get(0)).isNotEqualTo(hashes.get(1));
        assertThat(first.hashes(new byte[0], mark).get(0)).isNotEqualTo(hashes.get(1));
    }

    @Test
    void ringIsReadFromText() {
        String one = "2026-11:" + Base64.getEncoder().encodeToString(key(2));
        String two = "arn:aws:kms:eu-west-1:1:key/a:" + Base64.getEncoder().encodeToString(key(1));

        AesGcmPayloadCipher cipher = AesGcmPayloadCipher.parse(" " + one + "\n" + two + "\n");

        assertThat(cipher.encrypt(PAYLOAD, ROW).keyId()).isEqualTo("2026-11");
        assertThat(cipher)
                .hasToString("AesGcmPayloadCipher[keys [2026-11, arn:aws:kms:eu-west-1:1:key/a], current 2026-11]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "c2VjcmV0a2V5c2VjcmV0a2V5c2VjcmV0a2V5c2VjcmU=",
                ":c2VjcmV0a2V5c2VjcmV0a2V5c2VjcmV0a2V5c2VjcmU=",
                "k1:c2VjcmV0",
                "k1:c2VjcmV0*",
                "k1:c2VjcmV0a2V5c2VjcmV0a2V5 k1:c2VjcmV0a2V5c2VjcmV0a2V5",
            })
    void textThatIsNoRingIsRefusedWithoutShowingIt(String ring) {
        assertThatThrownBy(() -> AesGcmPayloadCipher.parse(ring))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("encrypt-payloads")
                .hasNoCause()
                .message()
                .doesNotContain("c2Vj");
    }

    @Test
    void badKeyOrIdIsRefused() {
        assertThatThrownBy(() -> AesGcmPayloadCipher.with("k1", new byte[31]))
                .isInstanceOf(InvalidConfigurationException.class);
        assertThatThrownBy(() -> AesGcmPayloadCipher.with("a key", key(1)))
                .isInstanceOf(InvalidConfigurationException.class);
        assertThatThrownBy(() -> AesGcmPayloadCipher.with("k".repeat(201), key(1)))
                .isInstanceOf(InvalidConfigurationException.class);
        assertThatThrownBy(() -> AesGcmPayloadCipher.with("k1", key(1)).reading("k1", key(2)))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    void textOfAnEncryptedPayloadDoesNotHaveItsBytes() {
        assertThat(new EncryptedPayload("k1", new byte[] {77, 78})).hasToString("EncryptedPayload[key k1, 2 bytes]");
    }
}
