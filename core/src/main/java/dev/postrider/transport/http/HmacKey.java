package dev.postrider.transport.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.postrider.error.InvalidConfigurationException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A shared secret ({@code whsec_}) that signs and verifies with HMAC-SHA256. Immutable, thread-safe. */
final class HmacKey implements Signer, SignatureCheck {

    static final String PREFIX = "whsec_";

    private static final int SHORTEST = 24;
    private static final int LONGEST = 64;

    private final SecretKeySpec key;

    private HmacKey(byte[] bytes) {
        this.key = new SecretKeySpec(bytes, "HmacSHA256");
    }

    static HmacKey of(String secret) {
        byte[] bytes = Signer.decode(secret, PREFIX);
        if (bytes.length < SHORTEST || bytes.length > LONGEST) {
            throw new InvalidConfigurationException(
                    PROPERTY, "must hold 24 to 64 bytes after whsec_, but holds " + bytes.length);
        }
        return new HmacKey(bytes);
    }

    @Override
    public String sign(byte[] content) {
        try {
            Mac mac = Mac.getInstance(key.getAlgorithm());
            mac.init(key);
            return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(content));
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has HmacSHA256", e);
        }
    }

    @Override
    public boolean accepts(String signature, byte[] content) {
        return MessageDigest.isEqual(sign(content).getBytes(US_ASCII), signature.getBytes(US_ASCII));
    }
}
