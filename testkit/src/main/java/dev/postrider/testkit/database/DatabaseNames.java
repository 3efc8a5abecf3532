package dev.postrider.testkit.database;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** Creates unique database names that every engine accepts without quotes. Thread-safe. */
final class DatabaseNames {

    // With its number, a name stays below the smallest limit of an identifier: 63 bytes in PostgreSQL.
    private static final Pattern PREFIX = Pattern.compile("[a-z][a-z0-9_]{0,39}");

    private final AtomicInteger lastNumber = new AtomicInteger();

    String next(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException("Not a database name prefix: '" + prefix + "' does not match " + PREFIX);
        }
        return prefix + "_" + lastNumber.incrementAndGet();
    }
}
