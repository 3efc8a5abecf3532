package dev.postrider.jdbc.outbox;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.encryption.EncryptedPayload;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.encryption.PayloadContext;
import dev.postrider.encryption.PayloadEncryptionException;
import dev.postrider.message.Message;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A payload that is not stored as it is: compressed, encrypted, or compressed and then encrypted. Whatever was done, the column begins with
 * the number of bytes of the clear payload, in four bytes with the lowest first. By it a claim counts the bytes that the message has in
 * memory. Behind it is the zlib stream of a {@link CompressedPayload}, or what the cipher returned. Immutable.
 */
final class PackedPayload {

    static final int PREFIX = Integer.BYTES;

    private final byte[] bytes;
    private final boolean compressed;
    private final @Nullable String keyId;

    private PackedPayload(byte[] bytes, boolean compressed, @Nullable String keyId) {
        this.bytes = bytes;
        this.compressed = compressed;
        this.keyId = keyId;
    }

    /**
     * Packs the payload of a message.
     *
     * @param compressAbove the size above which it is compressed; 0 for never
     * @param cipher encrypts it; null for none
     * @return null if it is stored as it is
     * @throws PayloadEncryptionException if the cipher failed
     * @throws CipherUnavailableException if the cipher is not available
     */
    static @Nullable PackedPayload of(Message message, int compressAbove, @Nullable PayloadCipher cipher) {
        byte[] payload = message.payload().bytes();
        CompressedPayload compressed = CompressedPayload.of(payload, compressAbove);
        if (cipher == null) {
            return compressed == null ? null : new PackedPayload(compressed.bytes(), true, null);
        }
        PayloadContext context =
                new PayloadContext(message.id(), message.topic(), message.tenant(), payload.length, compressed != null);
        EncryptedPayload encrypted =
                encrypt(message, compressed == null ? payload : compressed.bytes(), cipher, context);
        byte[] column = ByteBuffer.allocate(PREFIX + encrypted.bytes().length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(payload.length)
                .put(encrypted.bytes())
                .array();
        return new PackedPayload(column, compressed != null, encrypted.keyId());
    }

    private static EncryptedPayload encrypt(
            Message message, byte[] content, PayloadCipher cipher, PayloadContext context) {
        EncryptedPayload encrypted;
        try {
            encrypted = cipher.encrypt(content, context);
        } catch (CipherUnavailableException e) {
            throw e;
        } catch (PayloadEncryptionException e) {
            throw notWritten(message, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) { // not the cause: its message may have a part of the payload or of a key
            throw notWritten(message, "the cipher threw " + e.getClass().getName());
        }
        if (encrypted == null) {
            throw notWritten(message, "the cipher returned null");
        }
        return encrypted;
    }

    private static PayloadEncryptionException notWritten(Message message, String reason) {
        return new PayloadEncryptionException(
                "Message " + message.id() + " to '" + message.topic()
                        + "' was not written, because its payload could not be encrypted: " + reason,
                null);
    }

    /** The bytes of the column. */
    byte[] bytes() {
        return bytes;
    }

    boolean isCompressed() {
        return compressed;
    }

    /** The id of the key; null if the payload is not encrypted. */
    @Nullable
    String keyId() {
        return keyId;
    }
}
