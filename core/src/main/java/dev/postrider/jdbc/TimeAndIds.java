package dev.postrider.jdbc;

import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The monotonic clock and the source of ids. Tests replace them.
 *
 * @param ids returns a new unique id at each call
 */
record TimeAndIds(LongSupplier nanos, Supplier<UUID> ids) {

    static final TimeAndIds SYSTEM = new TimeAndIds(System::nanoTime, UUID::randomUUID);
}
