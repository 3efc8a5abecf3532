package dev.postrider.transport.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** One request header, and how text that HTTP cannot carry is put into one. Immutable. */
record HttpHeader(String name, String value) {

    static final String PROPERTY = "webhook-header";

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern PRINTABLE = Pattern.compile("[ -~]*");
    private static final int VALUE_LIMIT = 8 * 1024;
    private static final int SHORTEST_SECRET = 6;

    /** Set by the client or by {@link WebhookRequest}. */
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
        String lower = name.toLowerCase(Locale.ROOT);
        if (!TOKEN.matcher(name).matches()) {
            throw new InvalidConfigurationException(PROPERTY, "has a name that is not an HTTP token");
        }
        if (RESERVED.contains(lower) || RESERVED_PREFIXES.stream().anyMatch(lower::startsWith)) {
            throw new InvalidConfigurationException(PROPERTY, "'" + name + "' is set by Postrider or by the protocol");
        }
        if (!isPrintable(value) || value.length() > VALUE_LIMIT) {
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
     * The percent-encoding of the CloudEvents HTTP binding (3.1.3.2): everything but visible ASCII, and the quotation mark and
     * the percent sign. Different texts stay different.
     */
    static String encode(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (byte b : text.getBytes(UTF_8)) {
            if (b <= ' ' || b == '"' || b == '%' || b == 0x7f) {
                out.append('%').append(hex(b >> 4)).append(hex(b));
            } else {
                out.append((char) b);
            }
        }
        return out.toString();
    }

    private static char hex(int bits) {
        return "0123456789ABCDEF".charAt(bits & 15);
    }

    /** The text without this header's value, and without the parts of it that could be a secret of their own. */
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
