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
 * Checks a received request that was signed as Standard Webhooks say, by Postrider or anybody else:
 *
 * <pre>{@code
 * WebhookVerifier verifier = WebhookVerifier.with("whsec_…");
 * if (!verifier.verify(request::getHeader, body).isValid()) { … answer 401 … }
 * }</pre>
 *
 * The time of the attempt may differ from the clock by five minutes in both directions. A valid request may come more than
 * once: use {@code webhook-id} to take it once. Immutable and thread-safe.
 */
public final class WebhookVerifier {

    /** How far the time of an attempt may be from the receiver's clock. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,12}");

    /** Verifying costs time, so a request must not be able to ask for much of it. */
    private static final int MAX_SIGNATURES = 20;

    private final InstantSource clock;
    private final List<SignatureCheck> checks;

    private WebhookVerifier(InstantSource clock, List<SignatureCheck> checks) {
        this.clock = clock;
        this.checks = checks;
    }

    /** What came of a check. For the sender one answer is enough; the kinds are for the receiver's own log. */
    public enum Verification {
        VALID,
        /** A header is absent or cannot be read. */
        MALFORMED,
        /** The attempt was made too long ago: perhaps a replay. */
        TOO_OLD,
        /** The attempt lies in the future: a clock is wrong. */
        TOO_NEW,
        /** No signature fits: another key, or a body that is not byte for byte the one sent. */
        MISMATCH;

        public boolean isValid() {
            return this == VALID;
        }
    }

    /**
     * Accepts requests signed with any of these keys: {@code whsec_} for HMAC-SHA256, {@code whpk_} for Ed25519.
     *
     * @throws InvalidConfigurationException without a word of the key
     */
    public static WebhookVerifier with(String... keys) {
        return with(InstantSource.system(), keys);
    }

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
     * Checks one request.
     *
     * @param header finds a header by its name in lower case, such as {@code request::getHeader}; null when it is absent
     * @param body the bytes as they came, before any decoding
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
