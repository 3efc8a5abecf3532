package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts results with AES-GCM. The encrypted bytes contain the number of their key, so keys can be rotated while
 * results are stored: each result is decrypted with the key that encrypted it. Immutable, thread-safe.
 */
public final class AesGcmCipher implements ResultCipher {

    private static final byte VERSION = 1;
    private static final int HEADER = 1 + Integer.BYTES;
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;

    private final Map<Integer, SecretKey> keys;
    private final int current;
    private final SecureRandom random = new SecureRandom();

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
        if (key.length != 16 && key.length != 24 && key.length != 32) {
            throw new InvalidConfigurationException(
                    "command.cipher", "needs keys of 16, 24 or 32 bytes; number " + number + " has " + key.length);
        }
        return new SecretKeySpec(key, "AES");
    }

    @Override
    public byte[] encrypt(byte[] plain, byte[] context) {
        byte[] nonce = new byte[NONCE];
        random.nextBytes(nonce);
        byte[] header = header(current);
        byte[] sealed = run(Cipher.ENCRYPT_MODE, header, nonce, context, plain);
        return ByteBuffer.allocate(HEADER + NONCE + sealed.length)
                .put(header)
                .put(nonce)
                .put(sealed)
                .array();
    }

    @Override
    public byte[] decrypt(byte[] encrypted, byte[] context) {
        if (encrypted.length < HEADER + NONCE || encrypted[0] != VERSION) {
            throw new StoreException("The result of a command was not encrypted by this cipher", null);
        }
        ByteBuffer in = ByteBuffer.wrap(encrypted);
        byte[] header = new byte[HEADER];
        byte[] nonce = new byte[NONCE];
        byte[] sealed = new byte[encrypted.length - HEADER - NONCE];
        in.get(header).get(nonce).get(sealed);
        return run(Cipher.DECRYPT_MODE, header, nonce, context, sealed);
    }

    private static byte[] header(int key) {
        return ByteBuffer.allocate(HEADER).put(VERSION).putInt(key).array();
    }

    private byte[] run(int mode, byte[] header, byte[] nonce, byte[] context, byte[] input) {
        int number = ByteBuffer.wrap(header, 1, Integer.BYTES).getInt();
        @Nullable SecretKey key = keys.get(number);
        if (key == null) {
            throw new StoreException(
                    "The result of a command was encrypted with key " + number
                            + ", which this cipher does not have: add it with reading()",
                    null);
        }
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
            cipher.updateAAD(header);
            cipher.updateAAD(context);
            return cipher.doFinal(input);
        } catch (GeneralSecurityException e) {
            throw new StoreException(
                    "The result of a command cannot be read: it was changed, or moved from another row", e);
        }
    }

    /** Does not contain the keys. */
    @Override
    public String toString() {
        return "AesGcmCipher[keys " + keys.keySet() + ", current " + current + "]";
    }
}
