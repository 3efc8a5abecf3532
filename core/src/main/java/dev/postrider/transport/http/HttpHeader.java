package dev.postrider.transport.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;

/** One request header, and the encoding of text that HTTP cannot carry. Immutable. */
record HttpHeader(String name, String value) {

    static final String PROPERTY = "webhook-header";

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern PRINTABLE = Pattern.compile("[ -~]*");
    private static final int VALUE_LIMIT = 8 * 1024;
    private static final int SHORTEST_SECRET = 6;
    private static final String BLANK = "%20";

    /** The longest key that Postrider's endpoints accept. Many other servers store keys in a column of this length. */
    private static final int LONGEST_KEY = 255;

    /** The HTTP client or {@link WebhookRequest} sets these headers. */
    private static final Set<String> RESERVED = Set.of(
            "connection",
            "content-length",
            "content-type",
            "expect",
            "host",
            "idempotency-key",
            "te",
            "traceparent",
            "tracestate",
            "transfer-encoding",
            "upgrade");

    private static final Set<String> RESERVED_PREFIXES = Set.of("ce-", "webhook-", "postrider-", "proxy-");

    static HttpHeader configured(String name, String value) {
        if (name == null || !TOKEN.matcher(name).matches()) {
            throw new InvalidConfigurationException(PROPERTY, "has a name that is not an HTTP token");
        }
        String lower = name.toLowerCase(Locale.ROOT);
        if (RESERVED.contains(lower) || RESERVED_PREFIXES.stream().anyMatch(lower::startsWith)) {
            throw new InvalidConfigurationException(PROPERTY, "'" + name + "' is set by Postrider or by the protocol");
        }
        if (value == null || !isPrintable(value) || value.length() > VALUE_LIMIT) {
            throw new InvalidConfigurationException(
                    PROPERTY,
                    "'" + name + "' must have a value of at most " + VALUE_LIMIT + " printable ASCII characters");
        }
        return new HttpHeader(name, value);
    }

    static boolean isPrintable(String text) {
        return PRINTABLE.matcher(text).matches();
    }

    /**
     * Percent-encodes a text as the CloudEvents HTTP binding (3.1.3.2) requires: everything except visible ASCII, and
     * also the quotation mark and the percent sign. Different texts stay different.
     */
    static String encode(String text) {
        return encode(text, c -> c > ' ' && c <= '~' && c != '"' && c != '%');
    }

    /**
     * Encodes the value of a message header. Printable ASCII except the percent sign stays unchanged. Everything else
     * is percent-encoded, and so are spaces at both ends, which HTTP would remove. Percent-decoding returns the
     * original text.
     */
    static String encodeText(String text) {
        String encoded = encode(text, c -> c >= ' ' && c <= '~' && c != '%');
        int begin = 0;
        int end = encoded.length();
        while (begin < end && encoded.charAt(begin) == ' ') {
            begin++;
        }
        while (end > begin && encoded.charAt(end - 1) == ' ') {
            end--;
        }
        return BLANK.repeat(begin) + encoded.substring(begin, end) + BLANK.repeat(encoded.length() - end);
    }

    /**
     * Encodes a key as a String of RFC 9651, which allows printable ASCII. Other characters and the percent sign are
     * percent-encoded first, so that different keys stay different. If the result is longer than servers accept, the
     * SHA-256 of the key is used instead.
     */
    static String structuredString(String key) {
        String encoded = encode(key, c -> c >= ' ' && c <= '~' && c != '%');
        String value = encoded.length() <= LONGEST_KEY
                ? encoded
                : "sha-256:" + HexFormat.of().formatHex(sha256(key));
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }

    private static String encode(String text, IntPredicate plain) {
        StringBuilder out = new StringBuilder(text.length());
        for (byte b : text.getBytes(UTF_8)) {
            if (plain.test(b)) {
                out.append((char) b);
            } else {
                out.append('%').append(hex(b >> 4)).append(hex(b));
            }
        }
        return out.toString();
    }

    private static char hex(int bits) {
        return "0123456789ABCDEF".charAt(bits & 15);
    }

    /** Returns the text without the value of this header, and without parts of the value that could be a secret. */
    String hideIn(String text) {
        String clean = value.isBlank() ? text : text.replace(value, "***");
        for (String part : value.split(" ")) {
            clean = part.length() < SHORTEST_SECRET ? clean : clean.replace(part, "***");
        }
        return clean;
    }

    @Override
    public String toString() {
        return name + ": ***";
    }
}
