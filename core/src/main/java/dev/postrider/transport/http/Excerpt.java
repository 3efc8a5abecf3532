package dev.postrider.transport.http;

import java.util.regex.Pattern;

/** Makes foreign text short and harmless enough for an error column and a log line. */
final class Excerpt {

    static final int LIMIT = 200;

    /** Controls, bidirectional and other invisible characters, halves of pairs, line separators, runs of blanks. */
    private static final Pattern NOISE = Pattern.compile("[\\p{C}\\p{Z}]+");

    private Excerpt() {}

    static String of(String text) {
        String clean = NOISE.matcher(text).replaceAll(" ").strip();
        if (clean.length() <= LIMIT) {
            return clean;
        }
        int end = Character.isHighSurrogate(clean.charAt(LIMIT - 2)) ? LIMIT - 2 : LIMIT - 1;
        return clean.substring(0, end) + "…";
    }

    static String of(Throwable error) {
        String message = error.getMessage();
        String name = error.getClass().getSimpleName();
        return message == null ? name : name + ": " + of(message);
    }
}
