package dev.postrider.idempotency.http;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The syntax of a key: an Item of RFC 9651 that is a String. Its parameters are parsed and ignored. Unless strict, a
 * key without quotes is also accepted, as most clients send it; such a key has no parameters. Immutable.
 *
 * @param shortest the minimum length of the key, without quotes
 * @param pattern the pattern that the whole key must match, or null
 */
record KeySyntax(boolean strict, int shortest, @Nullable Pattern pattern) {

    static final int LONGEST = 255;

    static final Pattern UUID =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");

    static final Pattern UUID_V7 =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}");

    /** Longer field lines are refused. The limit permits a key with every character escaped, and parameters. */
    private static final int LONGEST_LINE = 1024;

    /**
     * Reads the key from the field lines of the header.
     *
     * @return null when the lines are not a valid key
     */
    @Nullable
    String read(List<String> lines) {
        // several lines form a list, which is not an Item
        if (lines.size() != 1 || lines.get(0).length() > LONGEST_LINE) {
            return null;
        }
        String key = strict ? StructuredItem.read(lines.get(0)) : StructuredItem.readLenient(lines.get(0));
        if (key == null || key.isBlank() || key.length() < shortest || key.length() > LONGEST) {
            return null;
        }
        return pattern == null || pattern.matcher(key).matches() ? key : null;
    }
}
