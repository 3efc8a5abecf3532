package dev.postrider.transport.http;

import java.util.regex.Pattern;

/** Makes a text from a peer short and safe for an error column and a log line. */
final class Excerpt {

    static final int LIMIT = 200;

    /**
     * Control characters, invisible and bidirectional characters, unpaired surrogates, line separators, sequences of
     * spaces.
     */
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
