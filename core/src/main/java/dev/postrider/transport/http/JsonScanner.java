package dev.postrider.transport.http;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a text is exactly one JSON value (RFC 8259), without building it. The nesting is kept in bits
 * instead of recursion, so that no payload can exhaust the stack. Not thread-safe; {@link #problemIn} is.
 */
final class JsonScanner {

    static final int DEPTH_LIMIT = 1000;

    private final String text;
    private final BitSet objects = new BitSet();
    private int depth;
    private int at;

    private JsonScanner(String text) {
        this.text = text;
    }

    /** Returns what is wrong with the text; null if it is valid. */
    static @Nullable String problemIn(String text) {
        try {
            new JsonScanner(text).scan();
            return null;
        } catch (Malformed e) {
            return e.getMessage();
        }
    }

    private void scan() throws Malformed {
        boolean valueExpected = true;
        while (valueExpected) {
            valueExpected = opensNonEmpty() || moreFollows();
        }
    }

    /**
     * Reads a value, or the start of a non-empty object or array. Returns true in the second case: the first inner
     * value follows.
     */
    private boolean opensNonEmpty() throws Malformed {
        skipBlanks();
        switch (peek()) {
            case '{' -> {
                return opens(true, '}');
            }
            case '[' -> {
                return opens(false, ']');
            }
            case '"' -> string();
            case 't' -> word("true");
            case 'f' -> word("false");
            case 'n' -> word("null");
            default -> number();
        }
        return false;
    }

    private boolean opens(boolean object, char end) throws Malformed {
        at++;
        if (accept(end)) {
            return false;
        }
        if (depth == DEPTH_LIMIT) {
            throw new Malformed("is nested more than " + DEPTH_LIMIT + " levels deep");
        }
        objects.set(depth++, object);
        if (object) {
            name();
        }
        return true;
    }

    /** Closes the objects and arrays that end here. Returns true if another value follows. */
    private boolean moreFollows() throws Malformed {
        while (depth > 0) {
            boolean object = objects.get(depth - 1);
            if (accept(',')) {
                if (object) {
                    name();
                }
                return true;
            }
            expect(object ? '}' : ']');
            depth--;
        }
        skipBlanks();
        if (at < text.length()) {
            throw unexpected();
        }
        return false;
    }

    private void name() throws Malformed {
        skipBlanks();
        string();
        expect(':');
    }

    private void string() throws Malformed {
        if (peek() != '"') {
            throw unexpected();
        }
        at++;
        while (peek() != '"') {
            char c = text.charAt(at);
            if (c < ' ') {
                throw unexpected();
            }
            at++;
            if (c == '\\') {
                escape();
            }
        }
        at++;
    }

    private void escape() throws Malformed {
        char c = peek();
        if ("\"\\/bfnrtu".indexOf(c) < 0) {
            throw unexpected();
        }
        at++;
        for (int i = 0; c == 'u' && i < 4; i++) {
            if ("0123456789abcdefABCDEF".indexOf(peek()) < 0) {
                throw unexpected();
            }
            at++;
        }
    }

    private void number() throws Malformed {
        if (peek() == '-') {
            at++;
        }
        if (peek() == '0') {
            at++;
        } else {
            digits();
        }
        if (at < text.length() && text.charAt(at) == '.') {
            at++;
            digits();
        }
        if (at < text.length() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            digits();
        }
    }

    private void digits() throws Malformed {
        if (!isDigit(peek())) {
            throw unexpected();
        }
        while (at < text.length() && isDigit(text.charAt(at))) {
            at++;
        }
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private void word(String word) throws Malformed {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
    }

    private boolean accept(char wanted) {
        skipBlanks();
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char wanted) throws Malformed {
        if (!accept(wanted)) {
            throw unexpected();
        }
    }

    private char peek() throws Malformed {
        if (at >= text.length()) {
            throw unexpected();
        }
        return text.charAt(at);
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private Malformed unexpected() {
        return new Malformed(at >= text.length() ? "ends too early" : "is not well-formed at character " + at);
    }

    private static final class Malformed extends Exception {

        Malformed(String problem) {
            super(problem, null, false, false);
        }
    }
}
