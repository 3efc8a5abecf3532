package dev.postrider.jdbc.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/**
 * Computes the lane of an ordering key. The function is part of the contract with programs that write rows without this
 * library, so it never changes. Test vectors are in {@code docs/ordered-topics.md}. Thread-safe.
 */
public final class LaneHash {

    private LaneHash() {}

    /** Returns the first 31 bits of an MD5 over both texts, modulo the lanes. Each text is in UTF-8 after its length (-1 for no tenant). */
    public static int of(@Nullable String tenant, String key, int lanes) {
        MessageDigest md5 = md5();
        field(md5, tenant);
        field(md5, key);
        return (ByteBuffer.wrap(md5.digest()).getInt() >>> 1) % lanes;
    }

    private static void field(MessageDigest digest, @Nullable String text) {
        byte[] bytes = text == null ? new byte[0] : text.getBytes(UTF_8);
        digest.update(
                ByteBuffer.allocate(4).putInt(text == null ? -1 : bytes.length).flip());
        digest.update(bytes);
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has MD5", e);
        }
    }
}
