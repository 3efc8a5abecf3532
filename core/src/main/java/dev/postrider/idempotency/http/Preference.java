package dev.postrider.idempotency.http;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads {@code wait} of the {@code Prefer} header (RFC 7240): how long a client accepts to wait for a response. */
final class Preference {

    private static final Pattern WAIT =
            Pattern.compile("(?:^|,)\\s*wait\\s*=\\s*\"?([0-9]{1,9})\"?\\s*(?:[;,]|$)", Pattern.CASE_INSENSITIVE);

    private Preference() {}

    /** Zero when the header has no valid {@code wait}. */
    static Duration waitIn(List<String> lines) {
        Matcher wait = WAIT.matcher(String.join(",", lines));
        return wait.find() ? Duration.ofSeconds(Long.parseLong(wait.group(1))) : Duration.ZERO;
    }
}
