package dev.postrider.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidMessageException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Computes deterministic keys: the same input always gives the same key, so that one logical event has one key. The
 * test vectors in {@code docs/deterministic-keys.md} allow other languages to compute the same keys. Stateless,
 * thread-safe. All methods throw {@link InvalidMessageException} when a required field is null or a text contains
 * characters that a message does not allow.
 */
public final class DeterministicKey {

    private static final int ABSENT = -1;

    private DeterministicKey() {}

    /**
     * Returns the key of one version of one kind of event on one entity. Each field is hashed unchanged, with its
     * length before it. So {@code "a:b", "c"} differs from {@code "a", "b:c"}, {@code "A"} differs from {@code "a"},
     * and no tenant differs from any tenant.
     *
     * @return a UUID of version 8 (RFC 9562) from the first 128 bits of the SHA-256
     */
    public static UUID of(@Nullable String tenant, String category, String entity, String kind, String version) {
        MessageDigest sha256 = digest("SHA-256");
        field(sha256, "tenant", tenant);
        field(sha256, "category", required("category", category));
        field(sha256, "entity", required("entity", entity));
        field(sha256, "kind", required("kind", kind));
        field(sha256, "version", required("version", version));
        return uuid(sha256.digest(), 8);
    }

    /** Returns the key for a numeric version, which is hashed as its decimal digits. */
    public static UUID of(@Nullable String tenant, String category, String entity, String kind, long version) {
        return of(tenant, category, entity, kind, Long.toString(version));
    }

    /** Returns a name-based UUID of version 5 (RFC 9562): the SHA-1 of the bytes of the namespace and the name. */
    public static UUID nameBased(UUID namespace, String name) {
        if (namespace == null) {
            throw new InvalidMessageException("key field 'namespace'", "is missing");
        }
        MessageDigest sha1 = digest("SHA-1");
        sha1.update(ByteBuffer.allocate(16)
                .putLong(namespace.getMostSignificantBits())
                .putLong(namespace.getLeastSignificantBits())
                .flip());
        sha1.update(required("name", name).getBytes(UTF_8));
        return uuid(sha1.digest(), 5);
    }

    /** Returns a UUID of version 8 (RFC 9562) from one text: the SHA-256 of its length in bytes and its bytes. */
    static UUID ofText(String text) {
        MessageDigest sha256 = digest("SHA-256");
        field(sha256, "text", text);
        return uuid(sha256.digest(), 8);
    }

    private static String required(String field, @Nullable String text) {
        if (text == null) {
            throw new InvalidMessageException("key field '" + field + "'", "is missing");
        }
        return Text.checked("key field '" + field + "'", text, Integer.MAX_VALUE);
    }

    private static void field(MessageDigest digest, String field, @Nullable String text) {
        if (text == null) {
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(ABSENT).flip());
            return;
        }
        byte[] bytes = Text.checked("key field '" + field + "'", text, Integer.MAX_VALUE)
                .getBytes(UTF_8);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).flip());
        digest.update(bytes);
    }

    private static UUID uuid(byte[] hash, int version) {
        ByteBuffer bits = ByteBuffer.wrap(hash, 0, 16);
        long high = (bits.getLong() & 0xFFFF_FFFF_FFFF_0FFFL) | ((long) version << 12);
        long low = (bits.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }

    private static MessageDigest digest(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has " + algorithm, e);
        }
    }
}
