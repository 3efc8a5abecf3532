package dev.postrider.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Cleans an error text so that it can be stored, logged and shown, whatever its source put into it. Not API.
 * Stateless, thread-safe.
 */
public final class ErrorText {

    /**
     * User and password in a URL. The password may contain an at sign. It may contain a slash, except where the text
     * looks like a port.
     */
    private static final Pattern USER_INFO = Pattern.compile("://(?:[^\\s/]*|[^\\s/:@]*:(?!\\d{1,5}[/?#])[^\\s@]*)@");

    private static final String NAME =
            "(?:pass(?:word|wd|phrase)|pwd|secret|token|credentials?|(?:api|access|private|signing|encryption)[-_]?key|(?<![a-z])pass)"
                    + "(?:[-_]?(?:key|value))?";

    /** The separator in plain text, in JSON, and in JSON inside a JSON string. */
    private static final String SEPARATOR = "\\\\*[\"']?\\s*[=:]\\s*";

    /**
     * A quoted value ends with its quote, any other value with a space or a separator. Possessive, so it never
     * backtracks.
     */
    private static final String VALUE = "(?:(\")(?:[^\"\\\\]|\\\\.)*+|(')[^']*+|(\\\\+\")[^\"\\\\]*+|[^\\s,;&\"']++)";

    /** The name may be the end of a longer name, such as access_token, X-Api-Key or dbPassword. */
    private static final Pattern SECRET = Pattern.compile("(?i)(" + NAME + SEPARATOR + ")" + VALUE);

    /** The value may consist of a scheme and credentials. */
    private static final Pattern AUTHORIZATION =
            Pattern.compile("(?i)(authorization" + SEPARATOR + ")(?:[a-z][a-z0-9-]*+\\s++)?" + VALUE);

    private static final Pattern BEARER = Pattern.compile(
            "(?i)\\b(bearer\\s+)(?!(?:token|auth|scheme|realm|credential|header|error)[a-z]*+(?![\\w.~+/=-]))[\\w.~+/=-]++");

    /**
     * Base64 has a digit, a symbol, or a lower-case letter before an upper-case one. A word after "Basic" in a
     * sentence has none of these.
     */
    private static final Pattern BASIC =
            Pattern.compile("\\b([Bb]asic\\s+)(?=[A-Za-z]*+[0-9+/=]|[A-Z]*+[a-z]++[A-Z])[A-Za-z0-9+/=_-]++");

    /** Keys with a known prefix: webhook keys and JSON Web Tokens. */
    private static final Pattern KEY = Pattern.compile("\\b(whsec_|whsk_|eyJ(?=[\\w-]++\\.[\\w-]++\\.))[\\w.+/=-]++");

    private static final Map<Pattern, String> REDACTIONS = redactions();

    /** Terminal escapes, control characters, and characters that change the text direction. */
    private static final Pattern UNPRINTABLE = Pattern.compile(
            "\\x1B\\[[0-9;?]*[ -/]*[@-~]|[\\p{Cc}\\u2028\\u2029\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]+");

    /** Possessive, so it never backtracks: a crafted text could otherwise exhaust the stack. */
    private static final Pattern VARIABLE = Pattern.compile("[0-9a-fA-F]{8,}+(?:-[0-9a-fA-F]++)*+|\\d++");

    /** The text is cut to this length first, because a pattern must not scan a text of 50 MB. */
    private static final int SCAN_LIMIT = 16 * 1024;

    private static final int MAX_CAUSES = 5;

    private ErrorText() {}

    /**
     * Returns the text as one line of at most {@code limit} code points, without secrets, control characters or
     * unpaired surrogates.
     */
    public static String clean(String text, int limit) {
        String head = text.length() > SCAN_LIMIT ? text.substring(0, SCAN_LIMIT) : text;
        String printable = UNPRINTABLE.matcher(head).replaceAll(" ");
        String redacted = printable;
        for (Map.Entry<Pattern, String> redaction : REDACTIONS.entrySet()) {
            redacted = redaction.getKey().matcher(redacted).replaceAll(redaction.getValue());
        }
        return truncate(wellFormed(redacted).strip(), limit);
    }

    /** Returns the cleaned text, of at most 16,384 code points. */
    public static String clean(String text) {
        return clean(text, SCAN_LIMIT);
    }

    private static Map<Pattern, String> redactions() {
        Map<Pattern, String> all = new LinkedHashMap<>();
        all.put(USER_INFO, "://***@");
        all.put(AUTHORIZATION, "$1$2$3$4***");
        all.put(SECRET, "$1$2$3$4***");
        all.put(BEARER, "$1***");
        all.put(BASIC, "$1***");
        all.put(KEY, "$1***");
        return all;
    }

    /** Returns the class and message of a failure and of its causes, each once, for at most five levels. */
    public static String of(Throwable failure) {
        StringBuilder text = new StringBuilder();
        try {
            append(text, failure);
        } catch (Throwable e) {
            text.append(" (the rest could not be read: ")
                    .append(e.getClass().getName())
                    .append(")");
        }
        return text.toString();
    }

    /**
     * Each of these methods may throw in an exception class of the application, and an exception may be its own
     * cause.
     */
    private static void append(StringBuilder text, Throwable failure) {
        Throwable current = failure;
        for (int depth = 0; current != null && depth < MAX_CAUSES; depth++) {
            text.append(depth == 0 ? "" : "; caused by ")
                    .append(current.getClass().getName());
            String message = current.getMessage();
            if (message != null) {
                text.append(": ").append(message, 0, Math.min(message.length(), SCAN_LIMIT));
            }
            current = current.getCause(); // a cycle of causes ends at the limit
        }
    }

    /**
     * Returns a fingerprint of 16 hex digits. It is equal for errors that differ only in numbers and ids, so that
     * they can be counted together.
     */
    public static String fingerprint(String reason, String error) {
        String kind = reason + ":" + VARIABLE.matcher(error).replaceAll("#");
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(kind.getBytes(UTF_8));
            return HexFormat.of().formatHex(hash, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    private static String wellFormed(String text) {
        return new String(text.getBytes(UTF_8), UTF_8);
    }

    private static String truncate(String text, int limit) {
        return text.codePointCount(0, text.length()) <= limit
                ? text
                : text.substring(0, text.offsetByCodePoints(0, limit));
    }
}
