package dev.postrider.encryption;

import dev.postrider.error.InvalidConfigurationException;
import java.util.regex.Pattern;

/**
 * An encrypted payload and the id of its key. The id is stored as it is, shown to operators and logged: it must not be secret. The array is
 * not copied and must not be changed. Immutable under this rule.
 */
public final class EncryptedPayload {

    private static final Pattern KEY_ID = Pattern.compile("[!-~]{1,200}");

    private final String keyId;
    private final byte[] bytes;

    /**
     * @param keyId 1 to 200 printable ASCII characters without spaces
     * @param bytes whatever the cipher needs to decrypt the payload, without the key
     */
    public EncryptedPayload(String keyId, byte[] bytes) {
        checkKeyId(keyId);
        if (bytes == null) {
            throw new InvalidConfigurationException("encrypt-payloads", "has a cipher that returned no bytes");
        }
        this.keyId = keyId;
        this.bytes = bytes;
    }

    /** Returns whether this text can be the id of a key. */
    public static boolean isKeyId(String keyId) {
        return KEY_ID.matcher(keyId).matches();
    }

    static void checkKeyId(String keyId) {
        if (keyId == null || !isKeyId(keyId)) {
            throw new InvalidConfigurationException(
                    "encrypt-payloads", "needs key ids of 1 to 200 printable ASCII characters without spaces");
        }
    }

    /** Returns the id of the key. */
    public String keyId() {
        return keyId;
    }

    /** Returns the encrypted bytes. The array is not a copy and must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Returns the id of the key and the size. */
    @Override
    public String toString() {
        return "EncryptedPayload[key " + keyId + ", " + bytes.length + " bytes]";
    }
}
