package dev.postrider.torture;

import dev.postrider.message.Message;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.TreeMap;

/** A hash over the payload, the content type and the headers of a message. */
final class Digest {

    private Digest() {}

    static String of(Message message) {
        MessageDigest digest = sha256();
        digest.update(message.payload().bytes());
        digest.update(message.payload().contentType().getBytes(StandardCharsets.UTF_8));
        new TreeMap<>(message.headers())
                .forEach((name, value) -> digest.update(("\n" + name + ": " + value).getBytes(StandardCharsets.UTF_8)));
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }
}
