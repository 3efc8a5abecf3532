package dev.postrider.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Minimal JSON support without a library: objects whose values are strings, whole numbers, booleans, lists or such
 * objects. Not API. Stateless, thread-safe.
 */
public final class Json {

    private static final int DEEPEST = 8;
    private static final int DEEPEST_OF_A_DOCUMENT = 32;

    private Json() {}

    /** Appends the text as a JSON string with quotes. */
    public static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < 0x20) {
                        out.append("\\u00")
                                .append(Character.forDigit(c >> 4, 16))
                                .append(Character.forDigit(c & 15, 16));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    /** Returns the map as a JSON object. */
    public static String write(Map<String, String> object) {
        if (object.isEmpty()) {
            return "{}";
        }
        StringBuilder out = new StringBuilder();
        write(out, object);
        return out.toString();
    }

    /** Appends the map as a JSON object. */
    public static void write(StringBuilder out, Map<String, String> object) {
        out.append('{');
        boolean first = true;
        for (Map.Entry<String, String> member : object.entrySet()) {
            if (!first) {
                out.append(',');
            }
            first = false;
            quote(out, member.getKey());
            out.append(':');
            quote(out, member.getValue());
        }
        out.append('}');
    }

    /**
     * Returns the map as a JSON object. Each value is a string, a number, a boolean, null, or a list or a map of such
     * values. Anything else is written as a string.
     */
    public static String writeTree(Map<String, ?> object) {
        StringBuilder out = new StringBuilder();
        writeTree(out, object);
        return out.toString();
    }

    private static void writeTree(StringBuilder out, Map<?, ?> object) {
        out.append('{');
        int start = out.length();
        object.forEach((name, value) -> {
            if (out.length() > start) {
                out.append(',');
            }
            quote(out, String.valueOf(name));
            out.append(':');
            writeValue(out, value);
        });
        out.append('}');
    }

    private static void writeValue(StringBuilder out, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            writeTree(out, map);
        } else if (value instanceof List<?> list) {
            writeList(out, list);
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            quote(out, value.toString());
        }
    }

    private static void writeList(StringBuilder out, List<?> values) {
        out.append('[');
        int start = out.length();
        for (Object value : values) {
            if (out.length() > start) {
                out.append(',');
            }
            writeValue(out, value);
        }
        out.append(']');
    }

    /**
     * Reads a JSON object. Each value is a {@code String}, a {@code Long}, or a {@code Map} of such values, at most
     * {@value #DEEPEST} levels deep.
     *
     * @throws IllegalArgumentException when the text is not such an object
     */
    public static Map<String, Object> readTree(String text) {
        return new Parser(text).whole(reader -> reader.tree(DEEPEST));
    }

    /**
     * Reads a JSON object of another system. Each value is a {@code String}, a {@code Long}, a {@code Boolean}, null, or a
     * {@code List} or a {@code Map} of such values, at most {@value #DEEPEST_OF_A_DOCUMENT} levels deep. A member that comes
     * twice is refused, because two readers could take different ones.
     *
     * @throws IllegalArgumentException when the text is not such an object
     */
    public static Map<String, @Nullable Object> readDocument(String text) {
        Parser parser = new Parser(text, true);
        return parser.<@Nullable Object>whole(reader -> reader.any(DEEPEST_OF_A_DOCUMENT));
    }

    /**
     * Reads a JSON object whose values are strings.
     *
     * @throws IllegalArgumentException when the text is not such an object
     */
    public static Map<String, String> readStrings(String text) {
        return text.equals("{}") ? Map.of() : new Parser(text).whole(Parser::string);
    }

    /**
     * Reads a JSON object. Each value is a {@code String}, a {@code Long}, or a {@code Map} of strings.
     *
     * @throws IllegalArgumentException when the text is not such an object
     */
    public static Map<String, Object> readObject(String text) {
        return new Parser(text).whole(Parser::value);
    }

    private static final class Parser {

        private static final int LONGEST_NUMBER = 18;

        private final String text;
        private final boolean isDocument;
        private int at;

        Parser(String text) {
            this(text, false);
        }

        /** @param isDocument whether the text is a whole JSON document, whose members come once */
        Parser(String text, boolean isDocument) {
            this.text = text;
            this.isDocument = isDocument;
        }

        <V extends @Nullable Object> Map<String, V> whole(Function<Parser, V> value) {
            Map<String, V> members = object(value);
            skipBlanks();
            if (at < text.length()) {
                throw wrong("the end");
            }
            return members;
        }

        private <V extends @Nullable Object> Map<String, V> object(Function<Parser, V> value) {
            Map<String, V> members = new LinkedHashMap<>();
            expect('{');
            if (!accept('}')) {
                do {
                    String name = string();
                    if (isDocument && members.containsKey(name)) {
                        throw wrong("no second member of this name");
                    }
                    expect(':');
                    members.put(name, value.apply(this));
                } while (accept(','));
                expect('}');
            }
            return members;
        }

        private Object value() {
            skipBlanks();
            char first = at < text.length() ? text.charAt(at) : '"';
            return first == '{' ? object(Parser::string) : isDigit(first) ? number() : string();
        }

        private Object tree(int levels) {
            skipBlanks();
            if (levels > 0 && at < text.length() && text.charAt(at) == '{') {
                return object(reader -> reader.tree(levels - 1));
            }
            return at < text.length() && isDigit(text.charAt(at)) ? number() : string();
        }

        private @Nullable Object any(int levels) {
            skipBlanks();
            char first = at < text.length() ? text.charAt(at) : '"';
            return switch (first) {
                case '{' -> object(reader -> reader.any(below(levels)));
                case '[' -> list(below(levels));
                case 't' -> literal("true", true);
                case 'f' -> literal("false", false);
                case 'n' -> literal("null", null);
                case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> wholeNumber();
                default -> string();
            };
        }

        private int below(int levels) {
            if (levels == 0) {
                throw wrong("no deeper value");
            }
            return levels - 1;
        }

        private List<@Nullable Object> list(int levels) {
            List<@Nullable Object> values = new ArrayList<>();
            expect('[');
            if (!accept(']')) {
                do {
                    values.add(any(levels));
                } while (accept(','));
                expect(']');
            }
            return values;
        }

        private @Nullable Object literal(String word, @Nullable Object value) {
            if (!text.startsWith(word, at)) {
                throw wrong("a value");
            }
            at += word.length();
            return value;
        }

        private Long wholeNumber() {
            boolean isNegative = accept('-');
            int start = at;
            if (start >= text.length() || !isDigit(text.charAt(start))) {
                throw wrong("a digit");
            }
            Long number = number();
            boolean hasZero = at - start > 1 && text.charAt(start) == '0';
            boolean hasFraction = at < text.length() && ".eE".indexOf(text.charAt(at)) >= 0;
            if (hasZero || hasFraction) {
                throw wrong("a whole number");
            }
            return isNegative ? Long.valueOf(-number) : number;
        }

        private Long number() {
            int start = at;
            while (at < text.length() && isDigit(text.charAt(at))) {
                at++;
            }
            if (at - start > LONGEST_NUMBER) {
                throw wrong("a shorter number");
            }
            return Long.valueOf(text.substring(start, at));
        }

        private static boolean isDigit(char c) {
            return c >= '0' && c <= '9';
        }

        private String string() {
            expect('"');
            StringBuilder out = new StringBuilder();
            for (char c = next(); c != '"'; c = next()) {
                if (c < ' ') {
                    throw wrong("no bare control character");
                }
                out.append(c == '\\' ? escaped() : c);
            }
            return out.toString();
        }

        private char escaped() {
            char c = next();
            return switch (c) {
                case 'n' -> '\n';
                case 'r' -> '\r';
                case 't' -> '\t';
                case 'b' -> '\b';
                case 'f' -> '\f';
                case 'u' -> unicode();
                case '"', '\\', '/' -> c;
                default -> throw wrong("an escape");
            };
        }

        private char unicode() {
            int code = 0;
            for (int i = 0; i < 4; i++) {
                int digit = "0123456789abcdef".indexOf(Character.toLowerCase(next()));
                if (digit < 0) {
                    throw wrong("a hex digit");
                }
                code = code << 4 | digit;
            }
            return (char) code;
        }

        private char next() {
            if (at >= text.length()) {
                throw wrong("more");
            }
            return text.charAt(at++);
        }

        private void expect(char wanted) {
            if (!accept(wanted)) {
                throw wrong("'" + wanted + "'");
            }
        }

        private boolean accept(char wanted) {
            skipBlanks();
            if (at < text.length() && text.charAt(at) == wanted) {
                at++;
                return true;
            }
            return false;
        }

        private void skipBlanks() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private IllegalArgumentException wrong(String wanted) {
            return new IllegalArgumentException((isDocument ? "not a JSON object: " : "not an object of strings: ")
                    + wanted + " expected at position " + at);
        }
    }
}
