package dev.postrider.idempotency.http;

import org.jspecify.annotations.Nullable;

/** Parses one Item of RFC 9651 (section 4.2.3) whose value is a String. Not thread-safe. */
final class StructuredItem {

    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

    private final String text;
    private int at;

    private StructuredItem(String text) {
        this.text = text;
    }

    /** @return the value, or null when the line is not a String with optional parameters */
    static @Nullable String read(String line) {
        StructuredItem item = new StructuredItem(trimmed(line));
        String value = item.peek() == '"' ? item.string() : null;
        return value != null && item.parameters() && item.at == item.text.length() ? value : null;
    }

    /**
     * Reads a value that may have no quotes, as most clients send it: UUIDs, Base64 and similar. The value is then the
     * whole line. A value without quotes has no parameters: {@code acme;invoice-1} could be a key or a key with a
     * parameter, and a key that is cut at the semicolon would also be the key of other requests.
     *
     * @return the value, or null when the line is neither a String nor a value without quotes
     */
    static @Nullable String readLenient(String line) {
        String bare = trimmed(line);
        boolean whole = !bare.isEmpty() && bare.chars().allMatch(StructuredItem::isBare);
        return whole ? bare : read(line);
    }

    private static String trimmed(String line) {
        int from = 0;
        int to = line.length();
        while (from < to && line.charAt(from) == ' ') {
            from++;
        }
        while (to > from && line.charAt(to - 1) == ' ') {
            to--;
        }
        return line.substring(from, to);
    }

    private @Nullable String string() {
        StringBuilder value = new StringBuilder();
        at++;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return value.toString();
            }
            if (c == '\\') {
                c = peek();
                at++;
                if (c != '"' && c != '\\') {
                    return null;
                }
            } else if (c < ' ' || c > '~') {
                return null;
            }
            value.append(c);
        }
        return null;
    }

    private boolean parameters() {
        while (peek() == ';') {
            at++;
            skipBlanks();
            if (!name() || (peek() == '=' && !value())) {
                return false;
            }
        }
        return true;
    }

    private boolean name() {
        if (!isLowerCase(peek()) && peek() != '*') {
            return false;
        }
        while (isLowerCase(peek()) || isDigit(peek()) || "_-.*".indexOf(peek()) >= 0) {
            at++;
        }
        return true;
    }

    private boolean value() {
        at++;
        char first = peek();
        if (first == '"') {
            return string() != null;
        }
        if (first == '%') {
            at++;
            return peek() == '"' && string() != null;
        }
        if (first == ':') {
            return bytes();
        }
        if (first == '?') {
            at += 2;
            return at <= text.length() && "01".indexOf(text.charAt(at - 1)) >= 0;
        }
        if (first == '@' || first == '-' || isDigit(first)) {
            return number();
        }
        return token();
    }

    private boolean bytes() {
        int end = text.indexOf(':', at + 1);
        for (int i = at + 1; i < end; i++) {
            char c = text.charAt(i);
            if (!isLetter(c) && !isDigit(c) && "+/=".indexOf(c) < 0) {
                return false;
            }
        }
        at = end + 1;
        return end > 0;
    }

    private boolean number() {
        boolean date = peek() == '@';
        at += date ? 1 : 0;
        at += peek() == '-' ? 1 : 0;
        int whole = digits();
        if (whole == 0 || whole > 15) {
            return false;
        }
        if (peek() != '.') {
            return true;
        }
        at++;
        int fraction = digits();
        return !date && whole <= 12 && fraction >= 1 && fraction <= 3;
    }

    private int digits() {
        int from = at;
        while (isDigit(peek())) {
            at++;
        }
        return at - from;
    }

    private boolean token() {
        if (!isLetter(peek()) && peek() != '*') {
            return false;
        }
        while (isTokenMark(peek()) || peek() == ':' || peek() == '/') {
            at++;
        }
        return true;
    }

    private void skipBlanks() {
        while (peek() == ' ') {
            at++;
        }
    }

    /** The next character; at the end NUL, which no rule accepts. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private static boolean isBare(int c) {
        return isTokenMark((char) c) || ":/=@".indexOf(c) >= 0;
    }

    private static boolean isTokenMark(char c) {
        return isLetter(c) || isDigit(c) || TOKEN_MARKS.indexOf(c) >= 0;
    }

    private static boolean isLetter(char c) {
        return isLowerCase(c) || (c >= 'A' && c <= 'Z');
    }

    private static boolean isLowerCase(char c) {
        return c >= 'a' && c <= 'z';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
