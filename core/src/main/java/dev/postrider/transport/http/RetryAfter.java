package dev.postrider.transport.http;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses {@code Retry-After}: seconds or an HTTP date, limited to one day. Any other value is ignored. Stateless,
 * thread-safe.
 */
final class RetryAfter {

    static final Duration LIMIT = Duration.ofDays(1);

    private static final Pattern SECONDS = Pattern.compile("[0-9]+");
    private static final int SURELY_A_LONG = 18;

    private RetryAfter() {}

    static @Nullable Duration parse(String value, Instant now) {
        String text = value.strip();
        Duration wait = SECONDS.matcher(text).matches() ? seconds(text) : untilDate(text, now);
        if (wait == null || wait.isNegative() || wait.isZero()) {
            return null;
        }
        return wait.compareTo(LIMIT) > 0 ? LIMIT : wait;
    }

    private static Duration seconds(String digits) {
        return digits.length() > SURELY_A_LONG ? LIMIT : Duration.ofSeconds(Long.parseLong(digits));
    }

    private static @Nullable Duration untilDate(String text, Instant now) {
        try {
            return Duration.between(now, Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)));
        } catch (DateTimeException e) {
            return null;
        }
    }
}
