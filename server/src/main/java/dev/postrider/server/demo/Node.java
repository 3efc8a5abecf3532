package dev.postrider.server.demo;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.transport.http.Webhook;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One instance of the application, with its own pool: places orders, and delivers its own messages and those of other
 * nodes.
 */
final class Node implements AutoCloseable {

    /** For claims, outcomes, leases, housekeeping and orders at the same time. */
    private static final int CONNECTIONS = 6;

    private final HikariDataSource pool;
    private final Postrider postrider;
    private final AtomicLong delivered = new AtomicLong();

    Node(String name, DemoDatabase database, Webhook webhook) {
        pool = database.pool(name, CONNECTIONS);
        // Short delays and a short poll interval, so that a short demo shows retries and messages of the other node.
        postrider = Postrider.on(pool)
                .topic(
                        Shop.TOPIC,
                        topic -> topic.deliver(webhook)
                                .maxAttempts(20)
                                .baseDelay(Duration.ofSeconds(1))
                                .maxDelay(Duration.ofSeconds(2)))
                .dispatch(options -> options.worker(name).pollInterval(Duration.ofMillis(500)))
                .listener(this::count)
                .build();
    }

    private void count(Event event) {
        if (event instanceof Event.Delivered) {
            delivered.incrementAndGet();
        }
    }

    HikariDataSource pool() {
        return pool;
    }

    Postrider postrider() {
        return postrider;
    }

    long delivered() {
        return delivered.get();
    }

    @Override
    public void close() {
        postrider.close();
        pool.close();
    }
}
