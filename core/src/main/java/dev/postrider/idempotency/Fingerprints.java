package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.internal.store.CommandPrint;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Computes the fingerprints of requests. Version 1 is SHA-256; a higher version is HMAC-SHA-256 with the secret of that
 * number. A request is compared in the version of the stored fingerprint, so a new secret does not change the
 * comparison with earlier requests. Thread-safe.
 */
final class Fingerprints {

    private static final int PLAIN = 1;

    private final TreeMap<Integer, byte[]> secrets;

    Fingerprints(Map<Integer, byte[]> secrets) {
        this.secrets = new TreeMap<>(secrets);
    }

    /** The fingerprint for a new row, in the highest version. */
    CommandPrint of(byte[] request) {
        return of(request, secrets.isEmpty() ? PLAIN : secrets.lastKey());
    }

    boolean matches(CommandPrint stored, byte[] request) {
        return stored.equals(of(request, stored.version()));
    }

    private CommandPrint of(byte[] request, int version) {
        try {
            return new CommandPrint(version, version == PLAIN ? sha256(request) : hmac(request, version));
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has SHA-256 and its HMAC", e);
        }
    }

    private static byte[] sha256(byte[] request) throws GeneralSecurityException {
        return MessageDigest.getInstance("SHA-256").digest(request);
    }

    private byte[] hmac(byte[] request, int version) throws GeneralSecurityException {
        byte @Nullable [] secret = secrets.get(version);
        if (secret == null) {
            throw new InvalidConfigurationException(
                    "command.secret", "number " + version + " is missing, but commands were stored with it: keep it");
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        return mac.doFinal(request);
    }
}
