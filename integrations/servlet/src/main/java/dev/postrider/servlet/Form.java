package dev.postrider.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.ServletRequest;
import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parses parameters in {@code application/x-www-form-urlencoded} by the rules of the URL standard: every text is valid.
 * A percent sign that starts no escape stays a percent sign, and bytes that are invalid in the encoding become U+FFFD.
 */
final class Form {

    private Form() {}

    /** The parameters of a query. Containers decode a query as UTF-8, independent of the encoding of the body. */
    static Map<String, List<String>> ofQuery(@Nullable String query) {
        return parse(query, UTF_8);
    }

    /**
     * The parameters of a body.
     *
     * @param body one character for each byte
     */
    static Map<String, List<String>> ofBody(String body, ServletRequest request) {
        return parse(body, charset(request.getCharacterEncoding()));
    }

    private static Map<String, List<String>> parse(@Nullable String text, Charset charset) {
        Map<String, List<String>> parameters = new LinkedHashMap<>();
        if (text == null) {
            return parameters;
        }
        for (String pair : text.split("&")) {
            if (!pair.isEmpty()) {
                int equals = pair.indexOf('=');
                String name = equals < 0 ? pair : pair.substring(0, equals);
                String value = equals < 0 ? "" : pair.substring(equals + 1);
                parameters
                        .computeIfAbsent(decode(name, charset), absent -> new ArrayList<>())
                        .add(decode(value, charset));
            }
        }
        return parameters;
    }

    private static Charset charset(@Nullable String name) {
        try {
            return name == null ? UTF_8 : Charset.forName(name);
        } catch (IllegalArgumentException e) {
            return UTF_8; // a request may name an unknown charset
        }
    }

    private static String decode(String text, Charset charset) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int escaped = c == '%' ? escaped(text, i) : -1;
            if (escaped >= 0) {
                bytes.write(escaped);
                i += 2;
            } else {
                bytes.write(c == '+' ? ' ' : c);
            }
        }
        return bytes.toString(charset);
    }

    /** The byte of the escape that starts at this index; negative if there is none. */
    private static int escaped(String text, int at) {
        if (at + 2 >= text.length()) {
            return -1;
        }
        int high = Character.digit(text.charAt(at + 1), 16);
        int low = Character.digit(text.charAt(at + 2), 16);
        return high < 0 || low < 0 ? -1 : high * 16 + low;
    }
}
