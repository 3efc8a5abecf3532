package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The id of a message: a UUID, of version 7 when made by {@link #next()}. Two ids are equal if their UUIDs are equal.
 * Immutable, thread-safe.
 */
public final class MessageId implements Comparable<MessageId> {

    /**
     * The last 60 bits of time and counter that this process used. All threads share it: the ids of one process must
     * rise strictly in all threads, also within a millisecond and after the wall clock was set back.
     */
    private static final AtomicLong LAST = new AtomicLong();

    private static final int COUNTER_BITS = 12;
    private static final int LONGEST_NAME = 255;
    private static final long LATEST_MILLIS =
            Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();
    private static final Pattern CANONICAL =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");

    private final UUID value;
    private final boolean isDefault;

    /**
     * Creates an id from a UUID.
     *
     * @throws InvalidMessageException when the UUID is null
     */
    public MessageId(UUID value) {
        this(value, false);
    }

    private MessageId(UUID value, boolean isDefault) {
        if (value == null) {
            throw new InvalidMessageException("id", "is missing");
        }
        this.value = value;
        this.isDefault = isDefault;
    }

    /** Returns a new id for a message that was built without one. */
    static MessageId byDefault() {
        return new MessageId(next().value, true);
    }

    /** Returns the UUID. */
    public UUID value() {
        return value;
    }

    /**
     * Returns whether the message was built without an id and got this one automatically. Such a message is new. It
     * cannot be a received message, because no sender gave it this id. This flag is not part of equality.
     */
    public boolean isDefault() {
        return isDefault;
    }

    /** Returns a new id (RFC 9562 version 7) that is greater than all earlier ids of this process. Thread-safe. */
    public static MessageId next() {
        return next(System.currentTimeMillis());
    }

    /** Takes the time as a parameter, so that a test can set it back. */
    static MessageId next(long wallClock) {
        long candidate = wallClock << COUNTER_BITS;
        long ticks = LAST.updateAndGet(last -> Math.max(candidate, last + 1));
        long millis = ticks >>> COUNTER_BITS;
        long counter = ticks & ((1 << COUNTER_BITS) - 1);
        long high = (millis << 16) | 0x7000L | counter;
        long low = (ThreadLocalRandom.current().nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new MessageId(new UUID(high, low));
    }

    /** Returns the time in an id of version 7, to the millisecond; null for another id, and for a time after the year 9999. */
    public @Nullable Instant time() {
        if (value.version() != 7 || value.variant() != 2) {
            return null;
        }
        long millis = value.getMostSignificantBits() >>> 16;
        return millis > LATEST_MILLIS ? null : Instant.ofEpochMilli(millis);
    }

    /**
     * Reads an id in the usual text form of 36 characters.
     *
     * @throws InvalidMessageException when the text is not in this form
     */
    public static MessageId of(String text) {
        // UUID.fromString alone would also accept "1-1-1-1-1", so one id would have several spellings.
        if (text == null || !CANONICAL.matcher(text).matches()) {
            throw new InvalidMessageException("id", "is not a UUID: " + Text.excerpt(text));
        }
        return new MessageId(UUID.fromString(text));
    }

    /**
     * Returns the id of a received message from the sender's id. A UUID in its usual text form is used unchanged. Any
     * other text of up to 255 characters becomes a UUID of version 8 (RFC 9562): the first 128 bits of the SHA-256 of
     * its length in UTF-8 bytes, as four bytes with the highest first, followed by these bytes. The same text gives
     * the same id everywhere: {@code named("orders-17")} is {@code 680b8589-f8c7-8723-8175-711927abd8f7}.
     *
     * @throws InvalidMessageException when the text is missing, blank, too long, or contains control characters
     */
    public static MessageId named(String text) {
        if (text == null || text.isBlank()) {
            throw new InvalidMessageException(
                    "id", "is missing: a received message is identified by the id that its sender gave it");
        }
        return CANONICAL.matcher(text).matches()
                ? new MessageId(UUID.fromString(text))
                : new MessageId(DeterministicKey.ofText(Text.checked("id", text, LONGEST_NAME)));
    }

    /** Compares the unsigned bits. For version 7 this is the order of creation. */
    @Override
    public int compareTo(MessageId other) {
        int high = Long.compareUnsigned(value.getMostSignificantBits(), other.value.getMostSignificantBits());
        return high != 0
                ? high
                : Long.compareUnsigned(value.getLeastSignificantBits(), other.value.getLeastSignificantBits());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof MessageId id && value.equals(id.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public String toString() {
        return value.toString();
    }
}
