package dev.postrider.admin.rest;

import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A request, independent of the HTTP server. Adapters make it; it is for one thread.
 *
 * @param path what follows the prefix of the API, as sent, still encoded: {@code /v1/topics}
 * @param query as sent, still encoded; null if there is none
 * @param headers all lines of each header; names are compared without regard to case
 * @param body is parsed only when the operator is known, and read to its end also when the request is refused
 * @param sender what the server says about the sender
 */
public record AdminRequest(
        String method,
        String path,
        @Nullable String query,
        Map<String, List<String>> headers,
        InputStream body,
        Sender sender) {

    /**
     * What the server says about the sender.
     *
     * @param principal the name that the server has authenticated; null if there is none
     * @param isLocal whether the request came to a loopback address, which only this machine can reach
     */
    public record Sender(@Nullable String principal, boolean isLocal) {}

    public AdminRequest {
        Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, lines) -> copy.merge(name, List.copyOf(lines), AdminRequest::joined));
        headers = copy;
    }

    private static List<String> joined(List<String> first, List<String> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    /** Returns all lines of a header; empty if it is absent. */
    public List<String> lines(String name) {
        return headers.getOrDefault(name, List.of());
    }

    /** Returns the value of a header that comes once; null if it is absent or comes more than once. */
    public @Nullable String header(String name) {
        List<String> lines = lines(name);
        return lines.size() == 1 ? lines.get(0) : null;
    }

    /** Does not contain headers and query, which may contain secrets. */
    @Override
    public String toString() {
        return "AdminRequest[" + method + "]";
    }
}
