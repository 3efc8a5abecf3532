package dev.postrider.postgresql;

import dev.postrider.dispatch.Doorbell;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * A doorbell over LISTEN and NOTIFY.
 *
 * <pre>{@code
 * Postrider.on(dataSource).doorbell(PostgresDoorbell.on(direct))
 * }</pre>
 *
 * A node that delivers keeps one connection of the given data source for listening; a node that writes keeps one for ringing. They
 * must lead to the server itself, or through a pooler in session mode: behind one in transaction mode notifications do not arrive.
 * That is noticed, by a ring to itself that does not come back, logged once, and tried again later; until then messages of other
 * nodes are found by polling. Immutable, thread-safe.
 */
public final class PostgresDoorbell implements Doorbell {

    private final DataSource dataSource;
    private final Timing timing;

    /**
     * @param echo how long a ring to itself may take
     * @param test how often that is tried while all is well
     * @param retry how long to wait after it failed
     */
    record Timing(Duration echo, Duration test, Duration retry) {}

    PostgresDoorbell(DataSource dataSource, Timing timing) {
        this.dataSource = dataSource;
        this.timing = timing;
    }

    /** @param direct connections to the same database as the tables; two of them are kept at most */
    public static PostgresDoorbell on(DataSource direct) {
        return new PostgresDoorbell(
                direct, new Timing(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofMinutes(1)));
    }

    @Override
    public Line open(String name) {
        return new PostgresLine(dataSource, Channel.named(name), timing);
    }
}
