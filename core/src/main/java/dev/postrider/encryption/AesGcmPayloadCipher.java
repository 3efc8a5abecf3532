package dev.postrider.encryption;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.internal.AesGcm;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts payloads with AES-GCM and a ring of keys: the first key encrypts, and every key decrypts what it encrypted. To rotate keys, add
 * the new key with {@link #reading} on every node, then make it the first key, and remove the old one when no message is encrypted with it.
 * One key is good for four billion messages (2<sup>32</sup>), because each has a random nonce of 96 bits. Immutable, thread-safe.
 */
public final class AesGcmPayloadCipher implements PayloadCipher {

    private static final byte VERSION = 1;
    private static final String HMAC = "HmacSHA256";
    private static final byte[] FOR_HASHES = "postrider payload hash".getBytes(UTF_8);

    private final AesGcm aesGcm = new AesGcm();

    /** The keys by their ids, the first one first. */
    private final Map<String, RingKey> keys;

    private final String current;

    /** A key, and the key for hashes that is derived from it. */
    private record RingKey(SecretKey encryption, SecretKey hashing) {}

    private AesGcmPayloadCipher(Map<String, RingKey> keys, String current) {
        this.keys = keys;
        this.current = current;
    }

    /**
     * Creates a cipher that encrypts with this key.
     *
     * @param keyId identifies the key; stored with each payload and shown to operators
     * @param key 16, 24 or 32 random bytes
     * @throws InvalidConfigurationException when the id or the size of the key is not valid
     */
    public static AesGcmPayloadCipher with(String keyId, byte[] key) {
        Map<String, RingKey> keys = new LinkedHashMap<>();
        keys.put(keyId, checked(keyId, key));
        return new AesGcmPayloadCipher(keys, keyId);
    }

    /**
     * Reads a ring of keys from text, for example from an environment variable: {@code <key id>:<key in base64>}, the first key first, with
     * spaces or line breaks between the keys.
     *
     * @throws InvalidConfigurationException when the text is not a ring of keys. The exception does not contain the keys
     */
    public static AesGcmPayloadCipher parse(String ring) {
        AesGcmPayloadCipher cipher = null;
        for (String entry : ring.strip().split("\\s+")) {
            int colon = entry.lastIndexOf(':');
            if (colon < 1) {
                throw invalid("needs keys in the form <key id>:<key in base64>");
            }
            String keyId = entry.substring(0, colon);
            byte[] key = decoded(keyId, entry.substring(colon + 1));
            cipher = cipher == null ? with(keyId, key) : cipher.reading(keyId, key);
        }
        if (cipher == null) {
            throw invalid("has no key");
        }
        return cipher;
    }

    private static byte[] decoded(String keyId, String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) { // its message may quote a part of the key
            throw invalid("has a key '" + keyId + "' that is not in base64");
        }
    }

    /** Returns a copy that also decrypts what an earlier or later key encrypted. */
    public AesGcmPayloadCipher reading(String keyId, byte[] key) {
        Map<String, RingKey> more = new LinkedHashMap<>(keys);
        if (more.put(keyId, checked(keyId, key)) != null) {
            throw invalid("has two keys with the id '" + keyId + "'");
        }
        return new AesGcmPayloadCipher(more, current);
    }

    private static RingKey checked(String keyId, byte[] key) {
        EncryptedPayload.checkKeyId(keyId);
        SecretKey encryption = AesGcm.key(key);
        if (encryption == null) {
            throw invalid("needs keys of 16, 24 or 32 bytes; '" + keyId + "' has " + key.length);
        }
        return new RingKey(encryption, new SecretKeySpec(hmac(new SecretKeySpec(key, HMAC), FOR_HASHES), HMAC));
    }

    private static InvalidConfigurationException invalid(String problem) {
        return new InvalidConfigurationException("encrypt-payloads", problem);
    }

    @Override
    public EncryptedPayload encrypt(byte[] payload, PayloadContext context) {
        RingKey key = keys.get(current);
        if (key == null) {
            throw new IllegalStateException("the current key is in the ring");
        }
        try {
            byte[] encrypted = aesGcm.encrypt(key.encryption(), payload, header(current), context.authenticated());
            byte[] out = new byte[1 + encrypted.length];
            out[0] = VERSION;
            System.arraycopy(encrypted, 0, out, 1, encrypted.length);
            return new EncryptedPayload(current, out);
        } catch (GeneralSecurityException e) {
            throw new PayloadEncryptionException("AES-GCM failed with key '" + current + "'", e);
        }
    }

    @Override
    public byte[] decrypt(EncryptedPayload encrypted, PayloadContext context) {
        byte[] bytes = encrypted.bytes();
        @Nullable RingKey key = keys.get(encrypted.keyId());
        if (key == null) {
            throw new PayloadDecryptionException(
                    "this node does not have the key '" + encrypted.keyId()
                            + "': add it with reading(), then replay the message",
                    null);
        }
        if (bytes.length == 0 || bytes[0] != VERSION) {
            throw new PayloadDecryptionException("it was not encrypted by this cipher", null);
        }
        try {
            return aesGcm.decrypt(
                    key.encryption(),
                    Arrays.copyOfRange(bytes, 1, bytes.length),
                    header(encrypted.keyId()),
                    context.authenticated());
        } catch (GeneralSecurityException e) {
            throw new PayloadDecryptionException(
                    "it was changed, moved from another row, or encrypted with another key of the id '"
                            + encrypted.keyId() + "'",
                    e);
        }
    }

    /** The version and the id of the key, which are authenticated too. */
    private static byte[] header(String keyId) {
        byte[] id = keyId.getBytes(UTF_8);
        return ByteBuffer.allocate(1 + Integer.BYTES + id.length)
                .put(VERSION)
                .putInt(id.length)
                .put(id)
                .array();
    }

    @Override
    public List<byte[]> hashes(byte[] payload, byte[] mark) {
        List<byte[]> hashes = new ArrayList<>(keys.size());
        for (RingKey key : keys.values()) {
            hashes.add(hmac(
                    key.hashing(),
                    ByteBuffer.allocate(Integer.BYTES).putInt(mark.length).array(),
                    mark,
                    payload));
        }
        return hashes;
    }

    private static byte[] hmac(SecretKey key, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(key);
            for (byte[] part : parts) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has HmacSHA256", e);
        }
    }

    /** Returns the ids of the keys, without the keys. */
    @Override
    public String toString() {
        return "AesGcmPayloadCipher[keys " + keys.keySet() + ", current " + current + "]";
    }
}
