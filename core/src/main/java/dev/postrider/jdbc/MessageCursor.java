package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The place in a list of messages where a page ended. As text: {@code m} and a number in the live table, or {@code a}, the microseconds of
 * the delivery and a number in the archive. A forged text leads to another page of the same list.
 *
 * @param seq null at the beginning of the table
 * @param deliveredAt null in the live table, and at the beginning of the archive
 */
record MessageCursor(
        boolean inArchive,
        @Nullable Instant deliveredAt,
        @Nullable Long seq) {

    static final MessageCursor START = new MessageCursor(false, null, null);
    static final MessageCursor ARCHIVE = new MessageCursor(true, null, null);

    private static final Pattern TEXT = Pattern.compile("m(-?\\d{1,18})|a(?:(\\d{1,18})\\.(-?\\d{1,18}))?");

    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");

    static MessageCursor live(long seq) {
        return new MessageCursor(false, null, seq);
    }

    static MessageCursor archive(Instant deliveredAt, long seq) {
        return new MessageCursor(true, deliveredAt, seq);
    }

    /** @throws InvalidConfigurationException if the text is no cursor */
    static MessageCursor parse(@Nullable String text) {
        if (text == null) {
            return START;
        }
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new InvalidConfigurationException("cursor", "is not one that a page has returned");
        }
        if (text.charAt(0) == 'm') {
            return live(Long.parseLong(parts.group(1)));
        }
        return parts.group(2) == null
                ? ARCHIVE
                : archive(time(Long.parseLong(parts.group(2))), Long.parseLong(parts.group(3)));
    }

    private static Instant time(long micros) {
        Instant time = Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
        if (time.isAfter(LAST)) {
            throw new InvalidConfigurationException("cursor", "is not one that a page has returned");
        }
        return time;
    }

    @Override
    public String toString() {
        if (!inArchive) {
            return "m" + seq;
        }
        return deliveredAt == null ? "a" : "a" + ChronoUnit.MICROS.between(Instant.EPOCH, deliveredAt) + "." + seq;
    }
}
