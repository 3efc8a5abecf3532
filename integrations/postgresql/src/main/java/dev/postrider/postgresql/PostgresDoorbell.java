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
 * A node that delivers keeps one connection of the given data source for listening; a node that writes keeps one for
 * ringing. The connections must lead to the server itself, or through a pooler in session mode: behind a pooler in
 * transaction mode notifications do not arrive. A node detects this by a test notification to itself that does not come
 * back. It logs the problem once and tries again later. Until then polls find the messages of other nodes. Immutable,
 * thread-safe.
 */
public final class PostgresDoorbell implements Doorbell {

    private final DataSource dataSource;
    private final Timing timing;

    /**
     * @param echo how long a test notification may take to come back
     * @param test the interval of tests while notifications arrive
     * @param retry the pause after a failed test
     */
    record Timing(Duration echo, Duration test, Duration retry) {}

    PostgresDoorbell(DataSource dataSource, Timing timing) {
        this.dataSource = dataSource;
        this.timing = timing;
    }

    /** @param direct connections to the same database as the tables; at most two of them are kept */
    public static PostgresDoorbell on(DataSource direct) {
        return new PostgresDoorbell(
                direct, new Timing(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofMinutes(1)));
    }

    @Override
    public Line open(String name) {
        return new PostgresLine(dataSource, Channel.named(name), timing);
    }
}
