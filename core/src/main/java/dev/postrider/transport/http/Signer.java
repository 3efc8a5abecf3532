package dev.postrider.transport.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.io.ByteArrayOutputStream;
import java.util.Base64;

/** Signs requests as Standard Webhooks define. Implementations are immutable and never show their key. */
interface Signer {

    String PROPERTY = "webhook-secret";

    /** Returns the signature with its version, such as {@code v1,…}. */
    String sign(byte[] content);

    /**
     * Reads a secret.
     *
     * @throws InvalidConfigurationException when the secret is not valid. The message contains no part of the secret
     */
    static Signer of(String secret) {
        if (secret == null) {
            throw new InvalidConfigurationException(PROPERTY, "is missing");
        }
        if (secret.startsWith(HmacKey.PREFIX)) {
            return HmacKey.of(secret);
        }
        if (secret.startsWith(Ed25519Keys.PRIVATE_PREFIX)) {
            return Ed25519Keys.signer(secret);
        }
        throw new InvalidConfigurationException(PROPERTY, "must begin with whsec_ (HMAC) or whsk_ (Ed25519)");
    }

    /**
     * Returns the signed content: id, timestamp, and the body exactly as sent. The id and the timestamp cannot
     * contain a dot.
     */
    static byte[] content(String id, String timestamp, byte[] body) {
        byte[] head = (id + "." + timestamp + ".").getBytes(UTF_8);
        ByteArrayOutputStream content = new ByteArrayOutputStream(head.length + body.length);
        content.writeBytes(head);
        content.writeBytes(body);
        return content.toByteArray();
    }

    /** Decodes the bytes after the prefix. The exception has no cause, because the cause would quote the secret. */
    static byte[] decode(String secret, String prefix) {
        try {
            return Base64.getDecoder().decode(secret.substring(prefix.length()));
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationException(PROPERTY, "is not valid base64 after " + prefix);
        }
    }
}
