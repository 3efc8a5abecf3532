package dev.postrider.internal;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/** AES-GCM with a random nonce of 96 bits and a tag of 128 bits. The nonce is in front of the encrypted bytes. Thread-safe. */
public final class AesGcm {

    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;

    private final SecureRandom random = new SecureRandom();

    /** Returns a key of 16, 24 or 32 bytes; null if it has another number of bytes. */
    public static @Nullable SecretKey key(byte[] bytes) {
        return bytes.length == 16 || bytes.length == 24 || bytes.length == 32 ? new SecretKeySpec(bytes, "AES") : null;
    }

    /**
     * Encrypts bytes.
     *
     * @param authenticated further bytes, in one or more parts, without which the result cannot be decrypted
     */
    public byte[] encrypt(SecretKey key, byte[] plain, byte[]... authenticated) throws GeneralSecurityException {
        byte[] nonce = new byte[NONCE];
        random.nextBytes(nonce);
        Cipher cipher = cipher(Cipher.ENCRYPT_MODE, key, nonce, authenticated);
        byte[] out = Arrays.copyOf(nonce, NONCE + cipher.getOutputSize(plain.length));
        int length = cipher.doFinal(plain, 0, plain.length, out, NONCE);
        return out.length == NONCE + length ? out : Arrays.copyOf(out, NONCE + length);
    }

    /** @throws GeneralSecurityException if the bytes, the authenticated ones or the key are others than at the encryption */
    public byte[] decrypt(SecretKey key, byte[] encrypted, byte[]... authenticated) throws GeneralSecurityException {
        if (encrypted.length < NONCE + TAG_BITS / Byte.SIZE) {
            throw new GeneralSecurityException("too short for a nonce and a tag");
        }
        return cipher(Cipher.DECRYPT_MODE, key, Arrays.copyOf(encrypted, NONCE), authenticated)
                .doFinal(encrypted, NONCE, encrypted.length - NONCE);
    }

    private static Cipher cipher(int mode, SecretKey key, byte[] nonce, byte[]... authenticated)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        for (byte[] part : authenticated) {
            cipher.updateAAD(part);
        }
        return cipher;
    }
}
