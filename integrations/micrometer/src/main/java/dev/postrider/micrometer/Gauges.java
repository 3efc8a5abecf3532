package dev.postrider.micrometer;

import dev.postrider.admin.Count;
import dev.postrider.admin.OldestTransaction;
import dev.postrider.admin.Sample;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.TopicSample;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.event.NodeLoad;
import dev.postrider.health.RollingWindow;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The gauges in one registry. They have the values of the last sample until the next one comes. Thread-safe. */
final class Gauges implements EventListener {

    private final RollingWindow window;
    private final Map<Metric, MultiGauge> gauges = new EnumMap<>(Metric.class);
    private final AtomicLong lastSample = new AtomicLong(System.nanoTime());
    private @Nullable Instant takenAt;

    Gauges(MeterRegistry registry, Tags common, RollingWindow window) {
        this.window = window;
        for (Metric metric : Metric.values()) {
            boolean isGauge = metric.type() != Metric.Type.COUNTER && metric.type() != Metric.Type.TIMER;
            if (isGauge && metric != Metric.SAMPLE_AGE) {
                gauges.put(
                        metric,
                        MultiGauge.builder(metric.meterName())
                                .description(metric.description())
                                .baseUnit(metric.type().isInSeconds() ? "seconds" : null)
                                .tags(common)
                                .register(registry));
            }
        }
        Gauge.builder(
                        Metric.SAMPLE_AGE.meterName(),
                        () -> seconds(Duration.ofNanos(System.nanoTime() - lastSample.get())))
                .description(Metric.SAMPLE_AGE.description())
                .baseUnit("seconds")
                .tags(common)
                .register(registry);
    }

    static Tags tags(Metric metric, List<String> values) {
        Tags tags = Tags.empty();
        for (int i = 0; i < values.size(); i++) {
            tags = tags.and(metric.tags().get(i), values.get(i));
        }
        return tags;
    }

    @Override
    public void on(Event event) {
        window.on(event);
        if (event instanceof Event.Sampled sampled) {
            show(sampled.sample(), sampled.node());
        }
    }

    private synchronized void show(Sample sample, NodeLoad node) {
        if (!sample.takenAt().equals(takenAt)) { // the node that should take the next one may be lost
            takenAt = sample.takenAt();
            lastSample.set(System.nanoTime());
        }
        Rows rows = new Rows();
        sample.topics().forEach(topic -> topic(rows, topic));
        database(rows, sample);
        node(rows, node);
        window.topics()
                .forEach(
                        (topic, attempts) -> rows.add(Metric.FAILURE_RATIO, attempts.failureRatio(), topic.toString()));
        gauges.forEach((metric, gauge) -> gauge.register(rows.of(metric), true));
    }

    private static void topic(Rows rows, TopicSample topic) {
        String name = topic.topic().toString();
        messages(rows, name, "waiting", topic.waiting());
        messages(rows, name, "scheduled", topic.scheduled());
        messages(rows, name, "retrying", topic.retrying());
        messages(rows, name, "processing", topic.processing());
        messages(rows, name, "blocked", topic.blocked());
        messages(rows, name, "parked", topic.parked());
        messages(rows, name, "dead", topic.dead());
        rows.add(Metric.OLDEST_AGE, seconds(topic.oldest()), name);
        rows.add(Metric.ATTEMPTED, topic.attempted().value(), name);
        rows.add(Metric.BLOCKED_KEYS, topic.blockedKeys().value(), name);
        rows.add(Metric.EXPIRED_LEASES, topic.expiredLeases().value(), name);
        rows.add(Metric.NODES, topic.nodes(), name);
        rows.add(Metric.PAUSED, topic.paused() ? 1 : 0, name);
    }

    private static void messages(Rows rows, String topic, String state, Count count) {
        rows.add(Metric.MESSAGES, count.value(), topic, state);
        rows.add(Metric.MESSAGES_LIMITED, count.exact() ? 0 : 1, topic, state);
    }

    private static void database(Rows rows, Sample sample) {
        rows.add(Metric.IDEMPOTENCY_KEYS, sample.idempotencyKeys().value());
        rows.add(Metric.INBOX_MARKS, sample.inboxMarks().value());
        for (Map.Entry<StoredCommand.State, Count> entry : sample.commands().entrySet()) {
            String state = entry.getKey().name().toLowerCase(Locale.ROOT);
            rows.add(Metric.STORED_COMMANDS, entry.getValue().value(), state);
        }
        rows.add(Metric.STORED_COMMANDS, sample.stuckCommands().value(), "stuck");
        OldestTransaction oldest = sample.oldestTransaction();
        rows.add(Metric.OLDEST_TRANSACTION, oldest == null ? 0 : seconds(oldest.age()));
        rows.add(Metric.SAMPLE_DURATION, seconds(sample.took()));
    }

    private static void node(Rows rows, NodeLoad node) {
        rows.add(Metric.IN_FLIGHT, node.inFlight());
        rows.add(Metric.CLOCK_SKEW, seconds(node.clockSkew()));
        for (NodeLoad.TopicLoad topic : node.topics()) {
            String name = topic.topic().toString();
            rows.add(Metric.SLOTS_TAKEN, topic.slotsTaken(), name);
            rows.add(Metric.SLOTS, topic.slots(), name);
            rows.add(Metric.LANES_OWNED, topic.lanesOwned(), name);
            rows.add(Metric.CIRCUIT_STATE, state(topic.circuit()), name);
        }
    }

    private static int state(NodeLoad.Circuit circuit) {
        return switch (circuit) {
            case CLOSED -> 0;
            case HALF_OPEN -> 1;
            case OPEN -> 2;
        };
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    /** The values of all gauges. */
    private static final class Rows {

        private final Map<Metric, List<MultiGauge.Row<?>>> all = new EnumMap<>(Metric.class);

        void add(Metric metric, Number value, String... values) {
            all.computeIfAbsent(metric, each -> new ArrayList<>())
                    .add(MultiGauge.Row.of(tags(metric, List.of(values)), value));
        }

        List<MultiGauge.Row<?>> of(Metric metric) {
            return all.getOrDefault(metric, List.of());
        }
    }
}
