package dev.postrider.idempotency.http;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Header maps with case-insensitive names. */
final class HeaderMap {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /**
     * The characters that a header value may have. Servers send one byte per character; the low byte of U+010A is a
     * line feed.
     */
    private static final Pattern VALUE = Pattern.compile("[\\t -~\\u0080-\\u00FF]*");

    private HeaderMap() {}

    /**
     * @throws IllegalArgumentException if HTTP cannot carry this header; the message does not contain the value, which
     *     may be a secret
     */
    static void check(String name, String value) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("A response has a header whose name is not an HTTP token");
        }
        if (!VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    "The value of " + name + " has a control character or a character beyond U+00FF");
        }
    }

    static Map<String, List<String>> copyOf(Map<String, List<String>> headers) {
        Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, lines) -> copy.put(name, List.copyOf(lines)));
        return Collections.unmodifiableMap(copy);
    }

    static Map<String, List<String>> with(Map<String, List<String>> headers, String name, String value) {
        Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        copy.putAll(headers);
        copy.put(name, List.of(value));
        return Collections.unmodifiableMap(copy);
    }

    static Map<String, List<String>> without(Map<String, List<String>> headers, String name) {
        Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        copy.putAll(headers);
        copy.remove(name);
        return Collections.unmodifiableMap(copy);
    }
}
