package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Authenticates operators by tokens in the header {@code Authorization: Bearer …}. Only hashes of the tokens are kept, and
 * a comparison takes the same time for every token. Immutable, thread-safe.
 */
public final class BearerTokens implements Authenticator {

    /** As RFC 6750 has it. A shorter token can be guessed. */
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]{20,500}=*");

    private static final String SCHEME = "bearer ";

    private final List<KnownToken> known;

    private record KnownToken(Digest digest, Operator operator) {}

    /** The hash of a token. */
    private static final class Digest {

        private final byte[] bytes;

        Digest(String token) {
            try {
                bytes = MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8));
            } catch (NoSuchAlgorithmException e) {
                throw new AssertionError("every Java platform has SHA-256", e);
            }
        }

        boolean matches(Digest other) {
            return MessageDigest.isEqual(bytes, other.bytes);
        }
    }

    private BearerTokens(List<KnownToken> known) {
        this.known = List.copyOf(known);
    }

    /** Returns an authenticator that knows no token. */
    public static BearerTokens none() {
        return new BearerTokens(List.of());
    }

    /**
     * Returns a copy that also knows this token. An operator may have several, for example while one is replaced.
     *
     * @param token 20 or more random characters, as {@code openssl rand -hex 32} makes them
     * @throws InvalidConfigurationException when the token is too short, has a character that the header cannot have, or
     *     is known already. The message does not contain it
     */
    public BearerTokens with(String token, Operator operator) {
        if (!TOKEN.matcher(token).matches()) {
            throw new InvalidConfigurationException(
                    "token",
                    "of " + operator.name()
                            + " must have 20 to 500 letters, digits and ._~+/- characters: openssl rand -hex 32 makes one");
        }
        Digest digest = new Digest(token);
        if (known.stream().anyMatch(other -> other.digest().matches(digest))) {
            throw new InvalidConfigurationException(
                    "token", "of " + operator.name() + " is known already: give each operator another one");
        }
        List<KnownToken> more = new ArrayList<>(known);
        more.add(new KnownToken(digest, operator));
        return new BearerTokens(more);
    }

    @Override
    public Optional<Operator> authenticate(AdminRequest request) {
        String header = request.header("Authorization");
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return Optional.empty();
        }
        Digest given = new Digest(header.substring(SCHEME.length()).strip());
        Operator found = null;
        for (KnownToken token : known) { // always all of them, so that the time says nothing
            if (token.digest().matches(given)) {
                found = token.operator();
            }
        }
        return Optional.ofNullable(found);
    }

    /** Does not contain tokens or hashes. */
    @Override
    public String toString() {
        return "BearerTokens[" + known.size() + "]";
    }
}
