package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks the headers of a message. Allowed names and values pass unchanged through every broker and every HTTP peer.
 */
final class Headers {

    static final int COUNT_LIMIT = 100;
    static final int SIZE_LIMIT = 16 * 1024;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final int VALUE_LIMIT = 4 * 1024;

    /**
     * The transports set these headers, or these headers change how a request is read. A message must not set them.
     */
    private static final Set<String> RESERVED = Set.of(
            "authorization",
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "cookie",
            "date",
            "expect",
            "host",
            "idempotency-key",
            "keep-alive",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "trailer",
            "traceparent",
            "tracestate",
            "transfer-encoding",
            "upgrade",
            "user-agent",
            "via");

    private static final Set<String> RESERVED_PREFIXES = Set.of("ce-", "ce_", "webhook-", "postrider-");

    private Headers() {}

    /**
     * Checks the headers. In topics of the inbox, the origin header is allowed, and does not count towards the
     * limits.
     */
    static Map<String, String> checked(TopicName topic, @Nullable Map<String, String> headers) {
        String origin = headers == null || !topic.isOfInbox() ? null : headers.get(Message.ORIGIN_HEADER);
        if (headers == null || origin == null) {
            return checked(headers);
        }
        Map<String, String> others = new HashMap<>(headers);
        others.remove(Message.ORIGIN_HEADER);
        TreeMap<String, String> all = new TreeMap<>(checked(others));
        all.put(Message.ORIGIN_HEADER, checkedValue(Message.ORIGIN_HEADER, origin));
        return Collections.unmodifiableMap(all);
    }

    /** Returns a sorted, unmodifiable copy, or throws an exception that names the header. */
    static Map<String, String> checked(@Nullable Map<String, String> headers) {
        if (headers == null) {
            throw new InvalidMessageException("headers", "are missing: use an empty map for no headers");
        }
        if (headers.isEmpty()) {
            return Map.of();
        }
        if (headers.size() > COUNT_LIMIT) {
            throw new InvalidMessageException(
                    "headers", "are " + headers.size() + ", at most " + COUNT_LIMIT + " are allowed");
        }
        TreeMap<String, String> copy = new TreeMap<>();
        Set<String> seen = new HashSet<>();
        int size = 0;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            String name = checkedName(header.getKey());
            if (!seen.add(name.toLowerCase(Locale.ROOT))) {
                throw new InvalidMessageException(
                        "header '" + name + "'", "is there twice: HTTP header names are not case-sensitive");
            }
            String value = checkedValue(name, header.getValue());
            size += name.length() + value.length();
            copy.put(name, value);
        }
        if (size > SIZE_LIMIT) {
            throw new InvalidMessageException(
                    "headers", "have " + size + " characters, at most " + SIZE_LIMIT + " are allowed");
        }
        return Collections.unmodifiableMap(copy);
    }

    private static String checkedName(String name) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw new InvalidMessageException(
                    "header name", "must be 1 to 100 characters of an HTTP token, but is " + Text.excerpt(name));
        }
        String lower = name.toLowerCase(Locale.ROOT);
        if (RESERVED.contains(lower) || RESERVED_PREFIXES.stream().anyMatch(lower::startsWith)) {
            throw new InvalidMessageException(
                    "header name", "'" + name + "' is reserved: it is set by Postrider or by the protocol");
        }
        return name;
    }

    private static String checkedValue(String name, String value) {
        if (value == null) {
            throw new InvalidMessageException("header '" + name + "'", "has no value");
        }
        return Text.checked("header '" + name + "'", value, VALUE_LIMIT);
    }
}
