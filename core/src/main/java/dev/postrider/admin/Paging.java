package dev.postrider.admin;

import org.jspecify.annotations.Nullable;

/**
 * Which page of a list to read. Immutable.
 *
 * @param cursor the {@link MessagePage#next()} of the page before; null for the first page
 * @param limit the largest number of entries, 1 to 1000
 * @param newestFirst whether the list begins with its newest entry
 */
public record Paging(@Nullable String cursor, int limit, boolean newestFirst) {

    private static final int MOST = 1000;

    public Paging {
        Checks.number("limit", limit, 1, MOST);
    }

    /** Returns the page that begins with the oldest entry. */
    public static Paging oldest(int limit) {
        return new Paging(null, limit, false);
    }

    /** Returns the page that begins with the newest entry. */
    public static Paging newest(int limit) {
        return new Paging(null, limit, true);
    }

    /** Returns the page after another one. */
    public Paging after(@Nullable String next) {
        return new Paging(next, limit, newestFirst);
    }
}
