package dev.postrider.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** Makes an error text fit to be stored, logged and shown, whatever a destination put into it. Not API. Pure functions. */
public final class ErrorText {

    private static final Pattern USER_INFO = Pattern.compile("://[^/\\s@]+@");
    private static final Pattern SECRET = Pattern.compile(
            "(?i)\\b(password|passwd|secret|token|api[-_]?key|authorization)([\"']?\\s*[=:]\\s*[\"']?)(?:(?:basic|bearer)\\s+)?[^\\s,;&\"']+");

    /** Terminal escapes, control characters, and the marks that turn the direction of the text around them. */
    private static final Pattern UNPRINTABLE = Pattern.compile(
            "\\x1B\\[[0-9;?]*[ -/]*[@-~]|[\\p{Cc}\\u2028\\u2029\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]+");

    /** Never gives back what it took: a text made for it would otherwise exhaust the stack. */
    private static final Pattern VARIABLE = Pattern.compile("[0-9a-fA-F]{8,}+(?:-[0-9a-fA-F]++)*+|\\d++");

    /** Before anything else is done with it: a pattern must not meet a text of 50 MB. */
    private static final int SCAN_LIMIT = 16 * 1024;

    private static final int MAX_CAUSES = 5;

    private ErrorText() {}

    /** One line without secrets, control characters or half characters, of at most {@code limit} code points. */
    public static String clean(String text, int limit) {
        String head = text.length() > SCAN_LIMIT ? text.substring(0, SCAN_LIMIT) : text;
        String printable = UNPRINTABLE.matcher(head).replaceAll(" ");
        String redacted = SECRET.matcher(USER_INFO.matcher(printable).replaceAll("://***@"))
                .replaceAll("$1$2***");
        return truncate(wellFormed(redacted).strip(), limit);
    }

    /** The class and message of a failure, and of what caused it, each once. */
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

    /** An exception of somebody's own may throw in each of these methods, or be its own cause. */
    private static void append(StringBuilder text, Throwable failure) {
        Throwable current = failure;
        for (int depth = 0; current != null && depth < MAX_CAUSES; depth++) {
            text.append(depth == 0 ? "" : "; caused by ")
                    .append(current.getClass().getName());
            String message = current.getMessage();
            if (message != null) {
                text.append(": ").append(message, 0, Math.min(message.length(), SCAN_LIMIT));
            }
            current = current.getCause(); // a cause that is its own ends at the limit
        }
    }

    /** The same for errors that differ only in numbers and ids, so that they can be counted together: 16 hex digits. */
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
