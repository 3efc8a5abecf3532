package dev.postrider.idempotency.http;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Headers by name in any case. */
final class HeaderMap {

    private HeaderMap() {}

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
}
