package dev.postrider.server.cli;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON: objects of maps, arrays of lists, times as ISO-8601, durations in milliseconds under a name that ends with
 * {@code Millis}, constants in lower case. Everything that a terminal might act on is escaped. Pure functions.
 */
final class JsonText {

    private JsonText() {}

    static String of(@Nullable Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, @Nullable Object value) {
        if (value == null || value instanceof Boolean || value instanceof Number) {
            out.append(value);
        } else if (value instanceof Map<?, ?> map) {
            writeObject(out, map);
        } else if (value instanceof Iterable<?> list) {
            writeArray(out, list);
        } else if (value instanceof Enum<?> constant) {
            quote(out, Words.of(constant));
        } else {
            quote(out, value.toString());
        }
    }

    private static void writeObject(StringBuilder out, Map<?, ?> map) {
        out.append('{');
        String separator = "";
        for (Map.Entry<?, ?> member : map.entrySet()) {
            out.append(separator);
            separator = ",";
            boolean isDuration = member.getValue() instanceof Duration;
            quote(out, isDuration ? member.getKey() + "Millis" : String.valueOf(member.getKey()));
            out.append(':');
            write(
                    out,
                    member.getValue() instanceof Duration duration ? (Object) duration.toMillis() : member.getValue());
        }
        out.append('}');
    }

    private static void writeArray(StringBuilder out, Iterable<?> list) {
        out.append('[');
        String separator = "";
        for (Object element : list) {
            out.append(separator);
            separator = ",";
            write(out, element);
        }
        out.append(']');
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        text.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').append((char) c);
            } else if (Printable.isHarmless(c)) {
                out.appendCodePoint(c);
            } else {
                out.append(Printable.escape(c));
            }
        });
        out.append('"');
    }
}
