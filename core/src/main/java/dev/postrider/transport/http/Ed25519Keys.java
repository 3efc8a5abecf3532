package dev.postrider.transport.http;

import dev.postrider.error.InvalidConfigurationException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.EdECPoint;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.EdECPublicKeySpec;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.Base64;

/** Reads Ed25519 keys: {@code whsk_} to sign, {@code whpk_} to verify. Stateless, thread-safe. */
final class Ed25519Keys {

    static final String PRIVATE_PREFIX = "whsk_";
    static final String PUBLIC_PREFIX = "whpk_";

    private static final String ALGORITHM = "Ed25519";
    private static final String VERSION = "v1a,";
    private static final int KEY_SIZE = 32;

    private Ed25519Keys() {}

    /**
     * Reads a private key, which is its 32-byte seed. Some tools append the public key, which must then match the
     * private key.
     */
    static Signer signer(String secret) {
        byte[] bytes = Signer.decode(secret, PRIVATE_PREFIX);
        if (bytes.length != KEY_SIZE && bytes.length != 2 * KEY_SIZE) {
            throw new InvalidConfigurationException(
                    Signer.PROPERTY, "must hold 32 or 64 bytes after whsk_, but holds " + bytes.length);
        }
        Signer signer = new PrivateHalf(privateKey(Arrays.copyOf(bytes, KEY_SIZE)));
        if (bytes.length == 2 * KEY_SIZE) {
            refuseUnlessPair(signer, Arrays.copyOfRange(bytes, KEY_SIZE, 2 * KEY_SIZE));
        }
        return signer;
    }

    static SignatureCheck check(String key) {
        byte[] bytes = Signer.decode(key, PUBLIC_PREFIX);
        if (bytes.length != KEY_SIZE) {
            throw new InvalidConfigurationException(
                    Signer.PROPERTY, "must hold 32 bytes after whpk_, but holds " + bytes.length);
        }
        return new PublicHalf(publicKey(bytes));
    }

    private static void refuseUnlessPair(Signer signer, byte[] publicKey) {
        byte[] probe = {1};
        if (!new PublicHalf(publicKey(publicKey)).accepts(signer.sign(probe), probe)) {
            throw new InvalidConfigurationException(Signer.PROPERTY, "holds a public key that is not its own");
        }
    }

    private static PrivateKey privateKey(byte[] seed) {
        try {
            return KeyFactory.getInstance(ALGORITHM)
                    .generatePrivate(new EdECPrivateKeySpec(NamedParameterSpec.ED25519, seed));
        } catch (GeneralSecurityException e) {
            throw new InvalidConfigurationException(Signer.PROPERTY, "is not an Ed25519 private key");
        }
    }

    /** Decodes the format of RFC 8032: y in little-endian order, with the sign of x in the highest bit. */
    private static PublicKey publicKey(byte[] encoded) {
        byte[] y = new byte[KEY_SIZE];
        for (int i = 0; i < KEY_SIZE; i++) {
            y[i] = encoded[KEY_SIZE - 1 - i];
        }
        boolean xIsOdd = (y[0] & 0x80) != 0;
        y[0] &= 0x7f;
        try {
            EdECPoint point = new EdECPoint(xIsOdd, new BigInteger(1, y));
            return KeyFactory.getInstance(ALGORITHM)
                    .generatePublic(new EdECPublicKeySpec(NamedParameterSpec.ED25519, point));
        } catch (GeneralSecurityException e) {
            throw new InvalidConfigurationException(Signer.PROPERTY, "is not an Ed25519 public key");
        }
    }

    private record PrivateHalf(PrivateKey key) implements Signer {

        @Override
        public String sign(byte[] content) {
            try {
                Signature signature = Signature.getInstance(ALGORITHM);
                signature.initSign(key);
                signature.update(content);
                return VERSION + Base64.getEncoder().encodeToString(signature.sign());
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("the Ed25519 key cannot sign", e);
            }
        }

        @Override
        public String toString() {
            return "Ed25519 private key";
        }
    }

    private record PublicHalf(PublicKey key) implements SignatureCheck {

        @Override
        public boolean accepts(String signature, byte[] content) {
            if (!signature.startsWith(VERSION)) {
                return false;
            }
            try {
                byte[] bytes = Base64.getDecoder().decode(signature.substring(VERSION.length()));
                Signature check = Signature.getInstance(ALGORITHM);
                check.initVerify(key);
                check.update(content);
                return check.verify(bytes);
            } catch (GeneralSecurityException | IllegalArgumentException e) {
                // The bytes are not a signature: wrong length, not base64, or not a point on the curve.
                return false;
            }
        }
    }
}
