package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.internal.AesGcm;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts results with AES-GCM. The encrypted bytes contain the number of their key, so keys can be rotated while
 * results are stored: each result is decrypted with the key that encrypted it. Immutable, thread-safe.
 */
public final class AesGcmCipher implements ResultCipher {

    private static final byte VERSION = 1;
    private static final int HEADER = 1 + Integer.BYTES;

    private final Map<Integer, SecretKey> keys;
    private final int current;
    private final AesGcm aesGcm = new AesGcm();

    private AesGcmCipher(Map<Integer, SecretKey> keys, int current) {
        this.keys = keys;
        this.current = current;
    }

    /**
     * Creates a cipher that encrypts with this key.
     *
     * @param number identifies the key; stored with each result
     * @param key 16, 24 or 32 random bytes
     */
    public static AesGcmCipher with(int number, byte[] key) {
        return new AesGcmCipher(new TreeMap<>(Map.of(number, checked(number, key))), number);
    }

    /** Returns a copy that also decrypts results of an earlier key. */
    public AesGcmCipher reading(int number, byte[] key) {
        Map<Integer, SecretKey> more = new TreeMap<>(keys);
        if (more.put(number, checked(number, key)) != null) {
            throw new InvalidConfigurationException("command.cipher", "has two keys of number " + number);
        }
        return new AesGcmCipher(more, current);
    }

    private static SecretKey checked(int number, byte[] key) {
        SecretKey checked = AesGcm.key(key);
        if (checked == null) {
            throw new InvalidConfigurationException(
                    "command.cipher", "needs keys of 16, 24 or 32 bytes; number " + number + " has " + key.length);
        }
        return checked;
    }

    @Override
    public byte[] encrypt(byte[] plain, byte[] context) {
        byte[] header = header(current);
        try {
            byte[] encrypted = aesGcm.encrypt(key(current), plain, header, context);
            return ByteBuffer.allocate(HEADER + encrypted.length)
                    .put(header)
                    .put(encrypted)
                    .array();
        } catch (GeneralSecurityException e) {
            throw new StoreException("The result of a command cannot be encrypted with key " + current, e);
        }
    }

    @Override
    public byte[] decrypt(byte[] encrypted, byte[] context) {
        if (encrypted.length < HEADER || encrypted[0] != VERSION) {
            throw new StoreException("The result of a command was not encrypted by this cipher", null);
        }
        byte[] header = Arrays.copyOf(encrypted, HEADER);
        SecretKey key = key(ByteBuffer.wrap(header, 1, Integer.BYTES).getInt());
        try {
            return aesGcm.decrypt(key, Arrays.copyOfRange(encrypted, HEADER, encrypted.length), header, context);
        } catch (GeneralSecurityException e) {
            throw new StoreException(
                    "The result of a command cannot be read: it was changed, or moved from another row", e);
        }
    }

    private static byte[] header(int key) {
        return ByteBuffer.allocate(HEADER).put(VERSION).putInt(key).array();
    }

    private SecretKey key(int number) {
        @Nullable SecretKey key = keys.get(number);
        if (key == null) {
            throw new StoreException(
                    "The result of a command was encrypted with key " + number
                            + ", which this cipher does not have: add it with reading()",
                    null);
        }
        return key;
    }

    /** Does not contain the keys. */
    @Override
    public String toString() {
        return "AesGcmCipher[keys " + keys.keySet() + ", current " + current + "]";
    }
}
