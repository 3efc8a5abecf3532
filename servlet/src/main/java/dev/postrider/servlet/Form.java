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
 * Parameters in {@code application/x-www-form-urlencoded}, parsed as the URL standard says: every text is a form. A percent sign
 * that begins no escape is a percent sign, and bytes that are not of the encoding become U+FFFD.
 */
final class Form {

    private Form() {}

    static Map<String, List<String>> parse(@Nullable String text, ServletRequest request) {
        Map<String, List<String>> parameters = new LinkedHashMap<>();
        if (text == null) {
            return parameters;
        }
        Charset charset = charset(request.getCharacterEncoding());
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
            return UTF_8; // a request may name anything
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

    /** The byte of the escape that begins here; negative if none does. */
    private static int escaped(String text, int at) {
        if (at + 2 >= text.length()) {
            return -1;
        }
        int high = Character.digit(text.charAt(at + 1), 16);
        int low = Character.digit(text.charAt(at + 2), 16);
        return high < 0 || low < 0 ? -1 : high * 16 + low;
    }
}
