package dev.postrider.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.ServletRequest;
import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parameters in {@code application/x-www-form-urlencoded}. */
final class Form {

    private Form() {}

    static Map<String, List<String>> parse(@Nullable String text, ServletRequest request) {
        Map<String, List<String>> parameters = new LinkedHashMap<>();
        if (text == null) {
            return parameters;
        }
        String encoding = request.getCharacterEncoding();
        Charset charset = encoding == null ? UTF_8 : Charset.forName(encoding);
        for (String pair : text.split("&")) {
            if (!pair.isEmpty()) {
                int equals = pair.indexOf('=');
                String name = equals < 0 ? pair : pair.substring(0, equals);
                String value = equals < 0 ? "" : pair.substring(equals + 1);
                parameters
                        .computeIfAbsent(URLDecoder.decode(name, charset), absent -> new ArrayList<>())
                        .add(URLDecoder.decode(value, charset));
            }
        }
        return parameters;
    }
}
