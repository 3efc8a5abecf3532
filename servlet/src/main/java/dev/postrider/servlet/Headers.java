package dev.postrider.servlet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The headers of a response that was not sent. */
final class Headers {

    /** Of one message on its way, not of the answer. */
    private static final Set<String> OF_THE_MESSAGE =
            Set.of("Content-Length", "Transfer-Encoding", "Connection", "Date");

    private Headers() {}

    static Map<String, List<String>> of(HttpServletResponse response) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : response.getHeaderNames()) {
            headers.put(
                    name, response.getHeaders(name).stream().map(Headers::latin).toList());
        }
        // some containers keep it apart from the others
        if (response.getContentType() != null) {
            headers.put("Content-Type", List.of(response.getContentType()));
        }
        headers.keySet().removeIf(name -> OF_THE_MESSAGE.stream().anyMatch(name::equalsIgnoreCase));
        return headers;
    }

    /** Each header instead of any lines of it. */
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

    /** As containers send it: a header has one byte per character, and others become a question mark. */
    private static String latin(String value) {
        return new String(value.getBytes(ISO_8859_1), ISO_8859_1);
    }
}
