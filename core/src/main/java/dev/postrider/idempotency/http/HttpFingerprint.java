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
 * Computes the fingerprint of a request from its method, path, query, media type and the bytes of the body. Other
 * headers are not part of it. The length precedes each part, so that different parts cannot have the same input.
 */
final class HttpFingerprint {

    /**
     * Part of the hash. Change it together with the algorithm, and support the old algorithm until its keys are purged.
     */
    private static final String RECIPE = "http-1";

    private final MessageDigest digest;

    private HttpFingerprint(MessageDigest digest) {
        this.digest = digest;
    }

    static byte[] of(KeyedRequest call) {
        HttpFingerprint print = new HttpFingerprint(sha256());
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

    /** Sorted by name. Parameters with the same name keep their order, because it may have a meaning. */
    private static Stream<String> parameters(@Nullable String query) {
        return query == null || query.isEmpty()
                ? Stream.empty()
                : Stream.of(query.split("&")).sorted(Comparator.comparing(HttpFingerprint::name));
    }

    private static String name(String parameter) {
        int equals = parameter.indexOf('=');
        return equals < 0 ? parameter : parameter.substring(0, equals);
    }

    /** Without parameters, because a retry may send a charset that the first request did not send. */
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
