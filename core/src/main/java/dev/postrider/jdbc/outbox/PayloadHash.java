package dev.postrider.jdbc.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.encryption.PayloadEncryptionException;
import dev.postrider.message.Message;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The hash of a payload, by which a mark tells whether a duplicate has the same payload. It is SHA-256, and on an encrypted topic a keyed
 * hash of the cipher: a reader of the table could guess payloads otherwise. Immutable.
 */
public final class PayloadHash {

    private static final int BYTES = 32;

    private final byte[] payload;
    private final byte[] mark;
    private final @Nullable PayloadCipher cipher;
    private final byte[] stored;

    private PayloadHash(byte[] payload, byte[] mark, @Nullable PayloadCipher cipher) {
        this.payload = payload;
        this.mark = mark;
        this.cipher = cipher;
        this.stored = cipher == null ? plain(payload) : keyed(cipher).get(0);
    }

    /** @param cipher the cipher of the topic; null for none */
    static PayloadHash ofKey(Message message, byte[] keyHash, @Nullable PayloadCipher cipher) {
        return new PayloadHash(
                message.payload().bytes(), cipher == null ? new byte[0] : markOf(message, keyHash), cipher);
    }

    /** @param cipher the cipher of the consumer; null for none */
    public static PayloadHash ofReceived(Message message, String consumer, @Nullable PayloadCipher cipher) {
        return new PayloadHash(
                message.payload().bytes(), cipher == null ? new byte[0] : markOf(message, consumer), cipher);
    }

    private static byte[] markOf(Message message, byte[] keyHash) {
        byte[] topic = message.topic().toString().getBytes(UTF_8);
        return ByteBuffer.allocate(keyHash.length + topic.length)
                .put(keyHash)
                .put(topic)
                .array();
    }

    private static byte[] markOf(Message message, String consumer) {
        UUID id = message.id().value();
        String tenant = message.tenant();
        byte[] name = (consumer + "/" + (tenant == null ? "" : tenant)).getBytes(UTF_8);
        return ByteBuffer.allocate(2 * Long.BYTES + name.length)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .put(name)
                .array();
    }

    private static byte[] plain(byte[] payload) {
        return NewRow.sha256().digest(payload);
    }

    private List<byte[]> keyed(PayloadCipher by) {
        List<byte[]> hashes;
        try {
            hashes = by.hashes(payload, mark);
        } catch (CipherUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new PayloadEncryptionException(
                    "The hash of a payload could not be made: the cipher threw "
                            + e.getClass().getName(),
                    null);
        }
        if (hashes == null
                || hashes.isEmpty()
                || hashes.stream().anyMatch(hash -> hash == null || hash.length != BYTES)) {
            throw new PayloadEncryptionException("The cipher must return hashes of 32 bytes, at least one", null);
        }
        return hashes;
    }

    /** The hash for a new mark. */
    public byte[] stored() {
        return stored;
    }

    /** Whether a stored hash is of the same payload: made with any key of the cipher, or before the topic had a cipher. */
    public boolean matches(byte[] found) {
        if (MessageDigest.isEqual(stored, found)) {
            return true;
        }
        return cipher != null
                && (keyed(cipher).stream().anyMatch(hash -> MessageDigest.isEqual(hash, found))
                        || MessageDigest.isEqual(plain(payload), found));
    }
}
