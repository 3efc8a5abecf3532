package dev.postrider.servlet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Reads and sets the headers of a response that has not been sent. */
final class Headers {

    /** Headers that belong to one transmission and not to the stored response. */
    private static final Set<String> OF_THE_MESSAGE =
            Set.of("Content-Length", "Transfer-Encoding", "Connection", "Date");

    private Headers() {}

    static Map<String, List<String>> of(HttpServletResponse response) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : response.getHeaderNames()) {
            headers.put(
                    name, response.getHeaders(name).stream().map(Headers::latin).toList());
        }
        // some containers store the content type separately
        if (response.getContentType() != null) {
            headers.put("Content-Type", List.of(response.getContentType()));
        }
        headers.keySet().removeIf(name -> OF_THE_MESSAGE.stream().anyMatch(name::equalsIgnoreCase));
        return headers;
    }

    /** Sets the headers. The new values replace all values of a header. */
    static void set(HttpServletResponse response, Map<String, List<String>> headers) {
        headers.forEach((name, lines) -> {
            if (name.equalsIgnoreCase("Content-Type")) {
                response.setContentType(lines.get(0));
                return;
            }
            for (int i = 0; i < lines.size(); i++) {
                if (i == 0) {
                    response.setHeader(name, lines.get(i));
                } else {
                    response.addHeader(name, lines.get(i));
                }
            }
        });
    }

    /** The value as containers send it: one byte per character; other characters become a question mark. */
    private static String latin(String value) {
        return new String(value.getBytes(ISO_8859_1), ISO_8859_1);
    }
}
