package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a message: a UUID, version 7 when made by {@link #next()}. Two ids are equal if their UUIDs are. Immutable,
 * thread-safe.
 */
public final class MessageId implements Comparable<MessageId> {

    /**
     * The last 60 bits of time and counter handed out in this process. Shared by all threads on purpose: ids of one process
     * must rise strictly, whoever asks, also within a millisecond and when the wall clock steps back.
     */
    private static final AtomicLong LAST = new AtomicLong();

    private static final int COUNTER_BITS = 12;
    private static final int LONGEST_NAME = 255;
    private static final Pattern CANONICAL =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");

    private final UUID value;
    private final boolean isDefault;

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

    /** The id of a message that was built without one. */
    static MessageId byDefault() {
        return new MessageId(next().value, true);
    }

    public UUID value() {
        return value;
    }

    /**
     * Whether a message was built without an id and got this one. Such a message is a new one and cannot have been received: no sender
     * calls it so. Has no part in equality.
     */
    public boolean isDefault() {
        return isDefault;
    }

    /** A new id (RFC 9562 version 7), greater than every one this process made before. Thread-safe. */
    public static MessageId next() {
        return next(System.currentTimeMillis());
    }

    /** Takes the time from outside, so that a test can set it back. */
    static MessageId next(long wallClock) {
        long candidate = wallClock << COUNTER_BITS;
        long ticks = LAST.updateAndGet(last -> Math.max(candidate, last + 1));
        long millis = ticks >>> COUNTER_BITS;
        long counter = ticks & ((1 << COUNTER_BITS) - 1);
        long high = (millis << 16) | 0x7000L | counter;
        long low = (ThreadLocalRandom.current().nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new MessageId(new UUID(high, low));
    }

    /** Reads the usual text form, all 36 characters of it. */
    public static MessageId of(String text) {
        // UUID.fromString alone would also take "1-1-1-1-1", and so give one id several spellings.
        if (text == null || !CANONICAL.matcher(text).matches()) {
            throw new InvalidMessageException("id", "is not a UUID: " + Text.excerpt(text));
        }
        return new MessageId(UUID.fromString(text));
    }

    /**
     * The id of a message that came from elsewhere, by what its sender calls it: a UUID in its usual text form is taken as it is,
     * and any other text of up to 255 characters becomes a UUID of version 8 (RFC 9562), from the first 128 bits of the SHA-256 over
     * its length in UTF-8 bytes, as four bytes with the highest first, and these bytes. The same text gives the same id everywhere:
     * {@code named("orders-17")} is {@code 680b8589-f8c7-8723-8175-711927abd8f7}.
     */
    public static MessageId named(String text) {
        if (text == null || text.isBlank()) {
            throw new InvalidMessageException(
                    "id", "is missing: a received message is told from others by the id that its sender gave it");
        }
        return CANONICAL.matcher(text).matches()
                ? new MessageId(UUID.fromString(text))
                : new MessageId(DeterministicKey.ofText(Text.checked("id", text, LONGEST_NAME)));
    }

    /** Orders by the unsigned bits, which for version 7 is the order of creation. */
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
