package dev.postrider.benchmarks.soak;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** Postrider with default settings, but without local hand-over: every message is claimed or read. */
final class PostriderSubject implements Subject {

    private static final String PAYLOAD = "x".repeat(200);
    private static final int KEYS = 1000;

    private final boolean ordered;
    private final String prefix;
    private final AtomicLong delivered = new AtomicLong();
    private final AtomicInteger number = new AtomicInteger();
    private final TimedLooks looks;
    private final Postrider postrider;

    PostriderSubject(DataSource dataSource, boolean ordered) {
        this.ordered = ordered;
        this.looks = new TimedLooks(dataSource, sql -> ordered ? sql.contains("WITH sight") : isClaim(sql));
        this.prefix = ordered ? "soak_lanes_" : "soak_rows_";
        this.postrider = Postrider.on(looks)
                .tables(tables -> tables.tablePrefix(prefix))
                .topic(
                        "soak",
                        topic -> (ordered ? topic.ordered() : topic)
                                .maxInFlight(1000)
                                .deliver(new Counting()))
                .dispatch(options -> options.handOver(false)
                        .batchSize(200)
                        .archiveRetention(Duration.ofMinutes(5))
                        .housekeepingInterval(Duration.ofSeconds(10)))
                .listener(event -> {})
                .build();
        postrider.migrate();
    }

    /** Whether the statement claims due messages or messages with expired leases. */
    private static boolean isClaim(String sql) {
        return sql.contains("WITH due") || sql.contains("WITH expired");
    }

    private final class Counting implements Transport {

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            delivered.incrementAndGet();
            return CompletableFuture.completedFuture(DeliveryResult.delivered());
        }

        @Override
        public Duration timeout() {
            return Duration.ofSeconds(10);
        }
    }

    @Override
    public String name() {
        return ordered ? "postrider ordered" : "postrider";
    }

    @Override
    public String table() {
        return prefix + "message";
    }

    @Override
    public Optional<String> history() {
        return Optional.of(prefix + "archive");
    }

    @Override
    public void start() {
        postrider.start();
    }

    @Override
    public void enqueue(int count) throws SQLException {
        postrider.inTransaction(work -> {
            for (int i = 0; i < count; i++) {
                work.stage(Message.to("soak")
                        .type("tick")
                        .key("k" + number.incrementAndGet() % KEYS)
                        .text(PAYLOAD)
                        .build());
            }
        });
    }

    @Override
    public long delivered() {
        return delivered.get();
    }

    @Override
    public List<Long> looks() {
        return looks.take();
    }

    @Override
    public void close() {
        postrider.close();
    }
}
