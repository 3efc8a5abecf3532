package dev.postrider.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.event.NodeLoad;
import dev.postrider.idempotency.Command;
import dev.postrider.inbox.InboxWork;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node on PostgreSQL does everything that is measured, and each metric is seen to move. */
@Timeout(180)
final class PostriderMetricsTest {

    private static final TopicName ORDERS = TopicName.of("orders");

    private final DataSource database = Databases.assumeStarted(Engine.POSTGRESQL_18)
            .createDatabase("metrics")
            .dataSource();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final PostriderMetrics metrics = PostriderMetrics.create();
    private final Watcher watcher = new Watcher();
    private final CountDownLatch slow = new CountDownLatch(1);
    private final Postrider postrider = node();

    /** Collects the metrics that had a value other than zero after an event. */
    private final class Watcher implements EventListener {

        private final Set<Metric> moved = EnumSet.noneOf(Metric.class);
        private final CountDownLatch all = new CountDownLatch(1);

        @Override
        public synchronized void on(Event event) {
            if (event instanceof Event.Sampled) {
                for (Metric metric : Metric.values()) {
                    if (registry.find(metric.meterName()).meters().stream().anyMatch(Watcher::hasValue)) {
                        moved.add(metric);
                    }
                }
                if (moved.size() == Metric.values().length) {
                    all.countDown();
                }
            }
        }

        private static boolean hasValue(Meter meter) {
            for (Measurement measurement : meter.measure()) {
                if (measurement.getValue() != 0) {
                    return true;
                }
            }
            return false;
        }

        synchronized Set<Metric> missing() {
            return EnumSet.complementOf(EnumSet.copyOf(moved));
        }
    }

    private Postrider node() {
        metrics.bindTo(registry);
        return Postrider.on(database)
                .topic("orders", topic -> topic.deliver(delivery -> {}))
                .topic("slow", topic -> topic.deliver(delivery -> slow.await()))
                .topic(
                        "failing",
                        topic -> topic.deliver(delivery -> {
                                    throw new IllegalStateException("down");
                                })
                                .retry(RetryPolicy.constant(Duration.ofMillis(1)))
                                .breakerFailures(2))
                .topic(
                        "accounts",
                        topic -> topic.deliver(delivery -> {
                                    throw new IllegalStateException("no such account");
                                })
                                .ordered()
                                .onFailure(FailurePolicy.PARK))
                .topic("lost", topic -> topic.deliver(delivery -> {}).maxAttempts(1))
                .topic("abandoned")
                .topic("large")
                .dispatch(options -> options.pollInterval(Duration.ofMillis(100))
                        .housekeepingInterval(Duration.ofMillis(200))
                        .archiveRetention(Duration.ofMillis(1))
                        .drainTimeout(Duration.ZERO))
                .listener(metrics)
                .listener(watcher)
                .sampleEvery(Duration.ofMillis(100))
                .build();
    }

    @AfterEach
    void stop() {
        slow.countDown();
        postrider.close();
    }

    private static Message.Builder message(String topic) {
        return Message.to(topic).type("thing.happened").json("{}");
    }

    @Test
    void everyMetricMoves() throws Exception {
        postrider.migrate();
        loseAMessage();
        retryAMessageThreeTimes();
        fillATopic();
        postrider.admin().pause("large", "ann");
        try (Connection old = database.getConnection()) {
            old.setAutoCommit(false);
            try (Statement statement = old.createStatement()) {
                statement.execute("SELECT pg_current_xact_id()");
            }

            postrider.start();
            deliver();
            receive();
            runACommand();
            publishWhatIsRare();

            boolean ended = watcher.all.await(60, TimeUnit.SECONDS);
            assertThat(watcher.missing()).isEmpty();
            assertThat(ended).isTrue();
        }
        String scraped = registry.scrape();
        assertThat(scraped).containsPattern("postrider_outcomes_total\\{[^}]*outcome=\"expired\"[^}]*} 1");
        for (Metric metric : Metric.values()) {
            assertThat(metric.seriesNames())
                    .allSatisfy(series -> assertThat(scraped).containsPattern("(?m)^" + series + "[ {]"));
        }
    }

    private void loseAMessage() throws SQLException {
        enqueue(message("lost").build());
        postrider.store().claim(ClaimRequest.of("lost", "a node that dies").maxAttempts(1));
        new DatabaseClock(database).advance(Duration.ofMinutes(10));
    }

    private void retryAMessageThreeTimes() throws SQLException {
        enqueue(message("abandoned").build());
        for (int attempt = 0; attempt < 3; attempt++) {
            for (Claim claim : postrider.store().claim(ClaimRequest.of("abandoned", "worker"))) {
                postrider.store().reschedule(claim, Duration.ZERO, "not yet");
            }
        }
        postrider.store().claim(ClaimRequest.of("abandoned", "a node that dies"));
        new DatabaseClock(database).advance(Duration.ofMinutes(10));
    }

    private void fillATopic() throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO postrider_message (id, topic_id, topic, type, payload)"
                    + " SELECT gen_random_uuid(), t.id, t.topic, 'thing.happened', '{}'"
                    + " FROM postrider_topic t CROSS JOIN generate_series(1, 10001) WHERE t.topic = 'large'");
        }
    }

    private void deliver() throws SQLException {
        postrider.inTransaction(work -> {
            work.stage(message("orders").idempotencyKey("once").build());
            work.stage(message("slow").build());
        });
        postrider.inTransaction(
                work -> work.stage(message("orders").idempotencyKey("once").build()));
        enqueue(message("orders").build());
        for (int i = 0; i < 5; i++) {
            enqueue(message("failing").build());
        }
        enqueue(message("accounts").key("ann").build());
        enqueue(message("accounts").key("ann").build());
        postrider.wake();
    }

    private void receive() throws Exception {
        Message received = Message.received("payments", MessageId.next().value().toString())
                .type("payment.made")
                .json("{}")
                .build();
        InboxWork<RuntimeException> work = unit -> {};
        postrider.inbox("billing").process(received, work);
        postrider.inbox("billing").process(received, work);
    }

    private void runACommand() {
        Command<String> command = Command.named("orders.place")
                .caller("ann")
                .key("key-1")
                .fingerprint("{}")
                .returningText();
        postrider.commands().run(command, tx -> "placed");
        postrider.commands().run(command, tx -> "placed");
    }

    /** These need a broken clock, a broken database or several lost processes. Their own tests make the events. */
    private void publishWhatIsRare() {
        List<Event> rare = List.of(
                new Event.FoundLate(ORDERS, 1),
                new Event.Suspected(message("orders").build(), 2),
                new Event.Expired(message("orders").build(), 0, false),
                new Event.StoreFailed("claim", "connection refused", Duration.ofSeconds(1)));
        rare.forEach(metrics::on);
        NodeLoad skewed = new NodeLoad("node", 0, Duration.ofSeconds(9), "", List.of());
        Event.Sampled sampled = new Event.Sampled(SampleFixture.empty(), skewed, Duration.ofSeconds(15));
        metrics.on(sampled);
        watcher.on(sampled);
    }

    private void enqueue(Message message) throws SQLException {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            postrider.outbox(connection).enqueue(message);
            connection.commit();
        }
    }
}
