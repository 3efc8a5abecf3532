package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What makes two requests the same: method, path, query, media type and the bytes of the body. Other headers do not count. Each
 * part goes in with its length, so that nothing can move from one to the next.
 */
final class Fingerprint {

    /** Part of the hash: change it with the recipe, and keep the old recipe as long as keys of it are kept. */
    private static final String RECIPE = "http-1";

    private final MessageDigest digest;

    private Fingerprint(MessageDigest digest) {
        this.digest = digest;
    }

    static byte[] of(HttpCall call) {
        Fingerprint print = new Fingerprint(sha256());
        print.add(RECIPE);
        print.add(call.method());
        print.add(call.path());
        parameters(call.query()).forEach(print::add);
        print.add(mediaType(call.header("Content-Type")));
        print.add(call.sharedBody());
        return print.digest.digest();
    }

    private void add(String part) {
        add(part.getBytes(UTF_8));
    }

    private void add(byte[] part) {
        digest.update(ByteBuffer.allocate(4).putInt(part.length).array());
        digest.update(part);
    }

    /** Sorted by name; those of one name stay as they are, since their order can mean something. */
    private static Stream<String> parameters(@Nullable String query) {
        return query == null || query.isEmpty()
                ? Stream.empty()
                : Stream.of(query.split("&")).sorted(Comparator.comparing(Fingerprint::name));
    }

    private static String name(String parameter) {
        int equals = parameter.indexOf('=');
        return equals < 0 ? parameter : parameter.substring(0, equals);
    }

    /** Without parameters: a client's retry may say the charset that its first request left out. */
    private static String mediaType(@Nullable String contentType) {
        if (contentType == null) {
            return "";
        }
        int end = contentType.indexOf(';');
        return (end < 0 ? contentType : contentType.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }
}
