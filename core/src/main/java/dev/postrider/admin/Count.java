package dev.postrider.admin;

/**
 * A count of rows that ends at a limit, so that its cost is bounded. Immutable.
 *
 * @param value the number of counted rows
 * @param exact whether there are no more; otherwise there are at least {@code value}
 */
public record Count(long value, boolean exact) {

    /** No rows. */
    public static final Count ZERO = exactly(0);

    public Count {
        if (value < 0) {
            throw new IllegalArgumentException("a count is not negative, but is " + value);
        }
    }

    /** Returns the count of all rows. */
    public static Count exactly(long value) {
        return new Count(value, true);
    }

    /** Returns the sum. It is exact if both counts are. */
    public Count plus(Count other) {
        return new Count(value + other.value, exact && other.exact);
    }

    /** Returns whether there certainly are more rows than this. */
    public boolean isAbove(long limit) {
        return value > limit;
    }

    /** Returns whether there are more rows than this, or may be, because the count ended at its limit. */
    public boolean mayBeAbove(long limit) {
        return value > limit || !exact;
    }

    /** Returns {@code 17}, or {@code >=10001} when the count ended at its limit. */
    @Override
    public String toString() {
        return exact ? Long.toString(value) : ">=" + value;
    }

    /**
     * Reads the text form.
     *
     * @throws IllegalArgumentException when the text is no count
     */
    static Count parse(String text) {
        return text.startsWith(">=")
                ? new Count(Long.parseLong(text.substring(2)), false)
                : exactly(Long.parseLong(text));
    }
}
