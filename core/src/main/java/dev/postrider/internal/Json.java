package dev.postrider.internal;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Minimal JSON support without a library: writes strings, and reads and writes objects whose values are strings. Not
 * API. Stateless, thread-safe.
 */
public final class Json {

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
        StringBuilder out = new StringBuilder("{");
        for (Map.Entry<String, String> member : object.entrySet()) {
            if (out.length() > 1) {
                out.append(',');
            }
            quote(out, member.getKey());
            out.append(':');
            quote(out, member.getValue());
        }
        return out.append('}').toString();
    }

    /**
     * Reads a JSON object whose values are strings.
     *
     * @throws IllegalArgumentException when the text is not such an object
     */
    public static Map<String, String> readStrings(String text) {
        return text.equals("{}") ? Map.of() : new Reader(text).object();
    }

    private static final class Reader {

        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        Map<String, String> object() {
            Map<String, String> members = new LinkedHashMap<>();
            expect('{');
            if (!accept('}')) {
                do {
                    String name = string();
                    expect(':');
                    members.put(name, string());
                } while (accept(','));
                expect('}');
            }
            skipBlanks();
            if (at < text.length()) {
                throw wrong("the end");
            }
            return members;
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
            return new IllegalArgumentException("not an object of strings: " + wanted + " expected at position " + at);
        }
    }
}
