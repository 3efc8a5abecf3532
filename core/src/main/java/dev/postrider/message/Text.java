package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Checks the texts of a message. An accepted text passes unchanged through every database, every broker and every
 * log.
 */
final class Text {

    private static final int EXCERPT = 40;

    private Text() {}

    static String required(String field, @Nullable String text, int limit) {
        if (text == null || text.isBlank()) {
            throw new InvalidMessageException(field, "is missing or blank");
        }
        return checked(field, text, limit);
    }

    static @Nullable String optional(String field, @Nullable String text, int limit) {
        return text == null ? null : required(field, text, limit);
    }

    /**
     * Checks a CloudEvents source, which is a URI reference of RFC 3986 and therefore ASCII. {@link URI} alone would
     * accept other letters too.
     */
    static void uriReference(String field, @Nullable String text, int limit) {
        if (text == null) {
            return;
        }
        required(field, text, limit);
        if (!text.chars().allMatch(c -> c > ' ' && c <= '~') || !isUri(text)) {
            throw new InvalidMessageException(
                    field, "must be a URI reference, such as '/shop' or 'urn:shop:orders', but is " + excerpt(text));
        }
    }

    private static boolean isUri(String text) {
        try {
            return !new URI(text).toString().isEmpty();
        } catch (URISyntaxException e) {
            return false;
        }
    }

    static String checked(String field, String text, int limit) {
        if (text.length() > limit) {
            throw new InvalidMessageException(
                    field, "has " + text.length() + " characters, at most " + limit + " are allowed: " + excerpt(text));
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isISOControl(c)) {
                throw new InvalidMessageException(
                        field, "holds the control character U+%04X at position %d".formatted((int) c, i));
            }
            if (Character.isSurrogate(c)) {
                boolean paired = Character.isHighSurrogate(c)
                        && i + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(i + 1));
                if (!paired) {
                    throw new InvalidMessageException(field, "holds half of a surrogate pair at position " + i);
                }
                i++;
            }
        }
        return text;
    }

    /** Returns a short quotation for an error message. It is safe to log, whatever the text contains. */
    static String excerpt(@Nullable String text) {
        if (text == null) {
            return "missing";
        }
        String head = text.length() <= EXCERPT ? text : text.substring(0, EXCERPT) + "…";
        return "'" + head.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?") + "'";
    }
}
