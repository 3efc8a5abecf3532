package dev.postrider.transport.http;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Verifies received requests that are signed as Standard Webhooks, by Postrider or by any other sender:
 *
 * <pre>{@code
 * WebhookVerifier verifier = WebhookVerifier.with("whsec_…");
 * if (!verifier.verify(request::getHeader, body).isValid()) { … answer 401 … }
 * }</pre>
 *
 * The time of the attempt may differ from the clock by five minutes in both directions. A valid request can arrive more than
 * once: use {@code webhook-id} to detect duplicates. Immutable and thread-safe.
 */
public final class WebhookVerifier {

    /** The largest allowed difference between the time of an attempt and the clock of the receiver. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,12}");

    /** Verification costs time, so the number of signatures in one request is limited. */
    private static final int MAX_SIGNATURES = 20;

    private final InstantSource clock;
    private final List<SignatureCheck> checks;

    private WebhookVerifier(InstantSource clock, List<SignatureCheck> checks) {
        this.clock = clock;
        this.checks = checks;
    }

    /**
     * The result of a verification. One answer is enough for the sender. The kinds are meant for the receiver's log.
     */
    public enum Verification {
        /** A signature matches, and the time of the attempt is within the tolerance. */
        VALID,
        /** A header is missing or cannot be parsed. */
        MALFORMED,
        /** The attempt was made too long ago. The request may be a replay attack. */
        TOO_OLD,
        /** The time of the attempt is in the future. A clock is wrong. */
        TOO_NEW,
        /** No signature matches: it was made with another key, or the body is not byte for byte the sent one. */
        MISMATCH;

        /** Returns whether the request is valid. */
        public boolean isValid() {
            return this == VALID;
        }
    }

    /**
     * Returns a verifier that accepts requests signed with any of these keys: {@code whsec_} for HMAC-SHA256,
     * {@code whpk_} for Ed25519.
     *
     * @throws InvalidConfigurationException when a key is not valid. The message contains no part of the key
     */
    public static WebhookVerifier with(String... keys) {
        return with(InstantSource.system(), keys);
    }

    /**
     * Returns a verifier with the given clock.
     *
     * @throws InvalidConfigurationException when a key is not valid. The message contains no part of the key
     */
    public static WebhookVerifier with(InstantSource clock, String... keys) {
        if (keys.length == 0) {
            throw new InvalidConfigurationException(Signer.PROPERTY, "is missing");
        }
        return new WebhookVerifier(
                clock, Stream.of(keys).map(WebhookVerifier::check).toList());
    }

    private static SignatureCheck check(String key) {
        if (key == null) {
            throw new InvalidConfigurationException(Signer.PROPERTY, "is missing");
        }
        if (key.startsWith(HmacKey.PREFIX)) {
            return HmacKey.of(key);
        }
        if (key.startsWith(Ed25519Keys.PUBLIC_PREFIX)) {
            return Ed25519Keys.check(key);
        }
        throw new InvalidConfigurationException(Signer.PROPERTY, "must begin with whsec_ (HMAC) or whpk_ (Ed25519)");
    }

    /**
     * Verifies one request.
     *
     * @param header returns a header by its lower-case name, such as {@code request::getHeader}; null when it is
     *     missing
     * @param body the received bytes, before any decoding
     */
    public Verification verify(Function<String, @Nullable String> header, byte[] body) {
        String id = header.apply("webhook-id");
        String timestamp = header.apply("webhook-timestamp");
        String signatures = header.apply("webhook-signature");
        if (id == null
                || id.isEmpty()
                || id.contains(".")
                || signatures == null
                || timestamp == null
                || !SECONDS.matcher(timestamp).matches()) {
            return Verification.MALFORMED;
        }
        boolean fits = anyFits(signatures, Signer.content(id, timestamp, body));
        return fits ? inTime(Long.parseLong(timestamp)) : Verification.MISMATCH;
    }

    private boolean anyFits(String signatures, byte[] content) {
        return Stream.of(signatures.split(" ", MAX_SIGNATURES + 1))
                .limit(MAX_SIGNATURES)
                .anyMatch(signature -> checks.stream().anyMatch(check -> check.accepts(signature, content)));
    }

    private Verification inTime(long sent) {
        long age = clock.instant().getEpochSecond() - sent;
        if (Math.abs(age) <= TOLERANCE.toSeconds()) {
            return Verification.VALID;
        }
        return age > 0 ? Verification.TOO_OLD : Verification.TOO_NEW;
    }
}
