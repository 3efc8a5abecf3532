package dev.postrider.jdbc.outbox;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.encryption.EncryptedPayload;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.encryption.PayloadContext;
import dev.postrider.encryption.PayloadDecryptionException;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** An encrypted payload as it was read, with the parts of its row that it is bound to. Immutable. */
public final class SealedPayload {

    private final byte[] column;
    private final String keyId;
    private final boolean compressed;
    private final Binding row;

    /** The row: the id and the topic of the message, and its tenant. */
    public record Binding(
            MessageId id, TopicName topic, @Nullable String tenant) {}

    /**
     * @param column the column {@code payload}
     * @param keyId the id of the key, from the attributes of the row
     */
    SealedPayload(byte[] column, String keyId, boolean compressed, Binding row) {
        this.column = column;
        this.keyId = keyId;
        this.compressed = compressed;
        this.row = row;
    }

    public TopicName topic() {
        return row.topic();
    }

    /** What operators see instead of the payload. */
    public String shown() {
        return "encrypted with key '" + keyId + "', " + column.length + " bytes stored";
    }

    /**
     * Decrypts the payload, and then decompresses it.
     *
     * @param cipher the cipher of the topic; null if this node declares none
     * @throws IllegalArgumentException if a later attempt cannot succeed either. The text is for operators
     * @throws CipherUnavailableException if a later attempt may succeed
     */
    public byte[] open(@Nullable PayloadCipher cipher, int maxPayloadBytes) {
        if (cipher == null) {
            throw new IllegalArgumentException("the payload is encrypted with key '" + keyId
                    + "', and this node declares no" + " cipher for topic '" + row.topic()
                    + "': declare encryptPayloads(…), then replay the message");
        }
        if (column.length < PackedPayload.PREFIX) {
            throw new IllegalArgumentException("the encrypted payload is damaged: it has " + column.length + " bytes");
        }
        int size = ByteBuffer.wrap(column).order(ByteOrder.LITTLE_ENDIAN).getInt();
        byte[] content = decrypt(cipher, size);
        byte[] payload = compressed ? CompressedPayload.decompress(content, maxPayloadBytes) : content;
        if (payload.length != size) { // a cipher that does not authenticate the context
            throw new IllegalArgumentException(
                    "the encrypted payload is damaged: it has " + payload.length + " bytes instead of " + size);
        }
        return payload;
    }

    private byte[] decrypt(PayloadCipher cipher, int size) {
        EncryptedPayload encrypted =
                new EncryptedPayload(keyId, Arrays.copyOfRange(column, PackedPayload.PREFIX, column.length));
        PayloadContext context = new PayloadContext(row.id(), row.topic(), row.tenant(), size, compressed);
        try {
            byte[] content = cipher.decrypt(encrypted, context);
            if (content == null) {
                throw new PayloadDecryptionException("the cipher returned null", null);
            }
            return content;
        } catch (CipherUnavailableException e) {
            throw e;
        } catch (PayloadDecryptionException e) {
            throw new IllegalArgumentException("the payload cannot be decrypted: " + e.getMessage(), e);
        } catch (RuntimeException e) { // its message may have a part of the payload or of a key
            throw new IllegalArgumentException(
                    "the payload cannot be decrypted: the cipher threw "
                            + e.getClass().getName(),
                    e);
        } catch (Error e) { // not the fault of the message: a missing class, or no memory
            throw new CipherUnavailableException(
                    "The cipher failed with " + e.getClass().getName(), e);
        }
    }
}
