package dev.postrider.admin.rest;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A response, independent of the HTTP server. Adapters send it unchanged, without the body if the method is HEAD. Immutable.
 *
 * @param headers one value for each header
 * @param body text to be sent in UTF-8; empty for a stream
 * @param stream the events to send after the headers, until it ends or the client leaves; null for all other responses.
 *     The adapter closes it
 */
public record AdminResponse(
        int status,
        Map<String, String> headers,
        String body,
        @Nullable EventStream stream) {

    public AdminResponse {
        headers = Map.copyOf(headers);
    }
}
