package dev.postrider.jdbc.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.encryption.AesGcmPayloadCipher;
import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.encryption.EncryptedPayload;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.encryption.PayloadContext;
import dev.postrider.encryption.PayloadEncryptionException;
import dev.postrider.message.Message;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PackedPayloadTest {

    private static final int LIMIT = 1 << 20;
    private static final String TEXT = "what compresses well, ".repeat(100);

    private final PayloadCipher cipher = AesGcmPayloadCipher.with("k1", new byte[32]);

    /** A cipher that does what a test says. */
    private static final class Scripted implements PayloadCipher {

        private final @Nullable RuntimeException thrown;
        private final @Nullable Error failure;
        private final byte @Nullable [] clear;

        Scripted(@Nullable RuntimeException thrown, @Nullable Error failure, byte @Nullable [] clear) {
            this.thrown = thrown;
            this.failure = failure;
            this.clear = clear;
        }

        @Override
        public EncryptedPayload encrypt(byte[] payload, PayloadContext context) {
            if (thrown != null) {
                throw thrown;
            }
            return new EncryptedPayload("k1", payload);
        }

        @Override
        @SuppressWarnings("NullAway") // ciphers are written by others
        public byte[] decrypt(EncryptedPayload encrypted, PayloadContext context) {
            if (thrown != null) {
                throw thrown;
            }
            if (failure != null) {
                throw failure;
            }
            return clear;
        }

        @Override
        public List<byte[]> hashes(byte[] payload, byte[] mark) {
            return List.of(new byte[5]);
        }
    }

    private static Message message(String text) {
        return Message.to("orders").type("order.placed").text(text).build();
    }

    private static SealedPayload sealed(Message message, PackedPayload packed) {
        MessageAttributes attributes = MessageAttributes.read(MessageAttributes.write(message, packed));
        return attributes.sealed(
                packed.bytes(), new SealedPayload.Binding(message.id(), message.topic(), message.tenant()));
    }

    private PackedPayload packed(Message message, int above) {
        return Objects.requireNonNull(PackedPayload.of(message, above, cipher));
    }

    @Test
    void whatIsPackedIsOpened() {
        for (int above : List.of(0, 100)) {
            Message message = message(TEXT);
            PackedPayload packed = packed(message, above);

            assertThat(ByteBuffer.wrap(packed.bytes())
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .getInt())
                    .isEqualTo(TEXT.length());
            assertThat(packed.bytes().length < TEXT.length()).isEqualTo(above > 0);
            assertThat(sealed(message, packed).open(cipher, LIMIT)).isEqualTo(TEXT.getBytes(UTF_8));
            assertThat(sealed(message, packed).shown())
                    .isEqualTo("encrypted with key 'k1', " + packed.bytes().length + " bytes stored");
        }
        Message empty = message("");
        assertThat(sealed(empty, packed(empty, 0)).open(cipher, LIMIT)).isEmpty();
    }

    @Test
    void encryptionIsTheFirstAttribute() {
        Message message = message(TEXT);

        assertThat(MessageAttributes.write(message, packed(message, 100)))
                .isEqualTo("{\"encryption\":\"k1\",\"compression\":\"zlib\"}");
        assertThat(MessageAttributes.write(message, packed(message, 0))).isEqualTo("{\"encryption\":\"k1\"}");
        assertThat(PackedPayload.of(message, 0, null)).isNull();
    }

    @Test
    void everyChangedByteOfTheColumnIsFound() {
        Message message = message("{\"card\":\"4111\"}");
        byte[] column = packed(message, 0).bytes();
        MessageAttributes attributes = MessageAttributes.read("{\"encryption\":\"k1\"}");
        SealedPayload.Binding row = new SealedPayload.Binding(message.id(), message.topic(), null);

        for (int i = 0; i < column.length; i++) {
            byte[] changed = column.clone();
            changed[i] ^= 1;
            byte[] shorter = Arrays.copyOf(column, i);
            for (byte[] damaged : List.of(changed, shorter)) {
                assertThatThrownBy(() -> attributes.sealed(damaged, row).open(cipher, LIMIT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .message()
                        .doesNotContain("4111");
            }
        }
        assertThatThrownBy(() -> MessageAttributes.read("{\"encryption\":\"k1\",\"compression\":\"zlib\"}")
                        .sealed(column, row)
                        .open(cipher, LIMIT))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void messageOfTheCiphersExceptionIsNotRepeated() {
        Message message = message("secret");
        SealedPayload sealed = sealed(message, packed(message, 0));
        PayloadCipher talkative = new Scripted(new IllegalStateException("key 4711, text secret"), null, null);

        assertThatThrownBy(() -> sealed.open(talkative, LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the payload cannot be decrypted: the cipher threw java.lang.IllegalStateException");
        assertThatThrownBy(() -> PackedPayload.of(message, 0, talkative))
                .isInstanceOf(PayloadEncryptionException.class)
                .hasMessageContaining(message.id().toString())
                .hasMessageEndingWith("the cipher threw java.lang.IllegalStateException")
                .hasNoCause();
    }

    @Test
    void cipherThatIsNotAvailableIsNotTheFaultOfTheMessage() {
        Message message = message("secret");
        SealedPayload sealed = sealed(message, packed(message, 0));
        CipherUnavailableException unavailable = new CipherUnavailableException("no answer", null);

        assertThatThrownBy(() -> sealed.open(new Scripted(unavailable, null, null), LIMIT))
                .isSameAs(unavailable);
        assertThatThrownBy(() -> PackedPayload.of(message, 0, new Scripted(unavailable, null, null)))
                .isSameAs(unavailable);
        assertThatThrownBy(() -> sealed.open(new Scripted(null, new NoClassDefFoundError("a/B"), null), LIMIT))
                .isInstanceOf(CipherUnavailableException.class)
                .hasMessage("The cipher failed with java.lang.NoClassDefFoundError");
    }

    @Test
    void carelessCipherIsFound() {
        Message message = message("secret");
        SealedPayload sealed = sealed(message, packed(message, 0));

        assertThatThrownBy(() -> sealed.open(new Scripted(null, null, null), LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("the cipher returned null");
        assertThatThrownBy(() -> sealed.open(new Scripted(null, null, new byte[5]), LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("it has 5 bytes instead of 6");
        assertThatThrownBy(() -> sealed.open(null, LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("this node declares no cipher for topic 'orders'");
        assertThatThrownBy(() -> PayloadHash.ofReceived(message, "shop", new Scripted(null, null, new byte[0])))
                .isInstanceOf(PayloadEncryptionException.class)
                .hasMessageContaining("hashes of 32 bytes");
    }

    @Test
    void hashMatchesUnderAnyKeyAndTheHashOfAClearTopic() {
        Message message = message("secret");
        PayloadCipher rotated = AesGcmPayloadCipher.with(
                        "k2", new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
                .reading("k1", new byte[32]);
        PayloadHash plain = PayloadHash.ofReceived(message, "shop", null);
        PayloadHash first = PayloadHash.ofReceived(message, "shop", cipher);
        PayloadHash second = PayloadHash.ofReceived(message, "shop", rotated);

        assertThat(plain.stored()).isEqualTo(NewRow.sha256().digest("secret".getBytes(UTF_8)));
        assertThat(first.stored()).isNotEqualTo(plain.stored()).isNotEqualTo(second.stored());
        assertThat(second.matches(first.stored())).isTrue();
        assertThat(second.matches(plain.stored())).isTrue();
        assertThat(first.matches(second.stored())).isFalse();
        assertThat(PayloadHash.ofReceived(
                                Message.to("orders")
                                        .id(message.id())
                                        .type("order.placed")
                                        .text("other")
                                        .build(),
                                "shop",
                                rotated)
                        .matches(first.stored()))
                .isFalse();
        assertThat(PayloadHash.ofReceived(message, "other", cipher).stored()).isNotEqualTo(first.stored());
    }
}
