package dev.postrider.transport.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.io.ByteArrayOutputStream;
import java.util.Base64;

/** Signs as Standard Webhooks say. Implementations are immutable and never show their key. */
interface Signer {

    String PROPERTY = "webhook-secret";

    /** The signature with its version, such as {@code v1,…}. */
    String sign(byte[] content);

    /** @throws InvalidConfigurationException without a word of the secret */
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

    /** What is signed: id, time and the body exactly as sent. Neither id nor time can hold a dot. */
    static byte[] content(String id, String timestamp, byte[] body) {
        byte[] head = (id + "." + timestamp + ".").getBytes(UTF_8);
        ByteArrayOutputStream content = new ByteArrayOutputStream(head.length + body.length);
        content.writeBytes(head);
        content.writeBytes(body);
        return content.toByteArray();
    }

    /** The bytes after the prefix. The cause of a failure is left out: it would quote the secret. */
    static byte[] decode(String secret, String prefix) {
        try {
            return Base64.getDecoder().decode(secret.substring(prefix.length()));
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationException(PROPERTY, "is not valid base64 after " + prefix);
        }
    }
}
