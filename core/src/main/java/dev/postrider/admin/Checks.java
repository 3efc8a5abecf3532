package dev.postrider.admin;

import dev.postrider.error.InvalidConfigurationException;
import org.jspecify.annotations.Nullable;

/** Checks the texts and numbers that operators pass in. */
final class Checks {

    private Checks() {}

    static String text(String field, @Nullable String text, int longest) {
        if (text == null || text.isBlank() || text.length() > longest || !isReadable(text)) {
            throw new InvalidConfigurationException(
                    field,
                    "must have 1 to " + longest
                            + " characters that are not all blank, without control characters and unpaired surrogates");
        }
        return text;
    }

    /** A pair of surrogates is one code point. An unpaired one stays a code point of type SURROGATE. */
    private static boolean isReadable(String text) {
        return text.codePoints()
                .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
    }

    static int number(String field, int value, int from, int to) {
        if (value < from || value > to) {
            throw new InvalidConfigurationException(field, "must be " + from + " to " + to + ", but is " + value);
        }
        return value;
    }
}
