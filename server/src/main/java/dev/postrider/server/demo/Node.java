package dev.postrider.server.demo;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.event.Event;
import dev.postrider.transport.http.Webhook;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * One instance of the application, with its own pool: places orders, and delivers its own messages and those of other
 * nodes.
 */
final class Node implements AutoCloseable {

    /** For claims, outcomes, lanes, leases, housekeeping and orders at the same time. */
    private static final int CONNECTIONS = 8;

    private final HikariDataSource pool;
    private final Postrider postrider;
    private final AtomicLong delivered = new AtomicLong();

    /** @param webhook makes the webhook of a topic */
    Node(String name, DemoDatabase database, Function<String, Webhook> webhook) {
        pool = database.pool(name, CONNECTIONS);
        // Short delays and a short poll interval, so that a short demo shows retries and messages of the other node.
        postrider = Postrider.on(pool)
                .topic(
                        Shop.TOPIC,
                        topic -> topic.deliver(webhook.apply(Shop.TOPIC))
                                .maxAttempts(20)
                                .baseDelay(Duration.ofSeconds(1))
                                .maxDelay(Duration.ofSeconds(2)))
                .topic(
                        Shop.MAIL,
                        topic -> topic.deliver(webhook.apply(Shop.MAIL))
                                .maxAttempts(1000)
                                .baseDelay(Duration.ofSeconds(1))
                                .maxDelay(Duration.ofSeconds(10)))
                .topic(
                        Shop.STOCK,
                        topic -> topic.ordered()
                                .lanes(4)
                                .onFailure(FailurePolicy.PARK)
                                .deliver(webhook.apply(Shop.STOCK)))
                .dispatch(options -> options.worker(name).pollInterval(Duration.ofMillis(500)))
                .listener(this::count)
                .build();
    }

    private void count(Event event) {
        if (event instanceof Event.Delivered delivery
                && delivery.message().topic().toString().equals(Shop.TOPIC)) {
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
