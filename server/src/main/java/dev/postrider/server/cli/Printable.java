package dev.postrider.server.cli;

import java.util.Locale;

/**
 * Makes text from messages safe for a terminal: escapes take the place of control characters, of characters that change
 * the direction of the text, and of unpaired surrogates. Pure functions.
 */
final class Printable {

    private Printable() {}

    /** Returns the text as one line. */
    static String line(String text) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints().forEach(c -> append(out, c, false));
        return out.toString();
    }

    /** Returns the text with its line breaks and tabs. */
    static String lines(String text) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints().forEach(c -> append(out, c, c == '\n' || c == '\t'));
        return out.toString();
    }

    private static void append(StringBuilder out, int c, boolean kept) {
        if (kept || isHarmless(c)) {
            out.appendCodePoint(c);
        } else {
            out.append(escape(c));
        }
    }

    /** Whether a terminal shows the character, and does nothing else with it. */
    static boolean isHarmless(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /** Returns the escape of JSON, which people know too. */
    static String escape(int c) {
        return switch (c) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> {
                StringBuilder out = new StringBuilder();
                for (char part : Character.toChars(c)) {
                    out.append(String.format(Locale.ROOT, "\\u%04x", (int) part));
                }
                yield out.toString();
            }
        };
    }
}
