package dev.postrider.micrometer;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.health.RollingWindow;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The counters and timers in one registry. Thread-safe. */
final class Meters implements EventListener {

    /** The limits of the buckets of every histogram: fixed, so that histograms of nodes can be added up. */
    private static final Duration[] BUCKETS =
            List.of(5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000)
                    .stream()
                    .map(Duration::ofMillis)
                    .toArray(Duration[]::new);

    private final MeterRegistry registry;
    private final Tags common;
    private final Gauges gauges;
    private final Map<Key, Counter> counters = new ConcurrentHashMap<>();
    private final Map<Key, Timer> timers = new ConcurrentHashMap<>();

    /** A meter with the values of its tags. */
    private record Key(Metric metric, List<String> values) {}

    Meters(MeterRegistry registry, Tags common, Duration window) {
        this.registry = registry;
        this.common = common;
        this.gauges = new Gauges(registry, common, new RollingWindow(window));
        counter(Metric.STORE_FAILURES);
    }

    @Override
    public void on(Event event) {
        gauges.on(event);
        onOutcome(event);
        onTopic(event);
        onInbox(event);
        onCommand(event);
    }

    private void onOutcome(Event event) {
        if (event instanceof Event.Delivered e) {
            outcome(e.message(), "delivered");
            timer(Metric.DELIVERY, topic(e.message())).record(e.took());
            timer(Metric.END_TO_END, topic(e.message()))
                    .record(since(e.message().occurredAt()));
        } else if (event instanceof Event.Failed e) {
            outcome(e.message(), "failed");
        } else if (event instanceof Event.Buried e) {
            outcome(e.message(), "dead");
        } else if (event instanceof Event.Parked e) {
            outcome(e.message(), "parked");
        } else if (event instanceof Event.Expired e) {
            outcome(e.message(), "expired");
        } else if (event instanceof Event.Blocked e) {
            outcome(e.message(), "blocked");
        } else if (event instanceof Event.Released e) {
            outcome(e.message(), "released");
        } else if (event instanceof Event.LeaseLost e) {
            outcome(e.message(), "lease_lost");
        } else if (event instanceof Event.AlreadyFinished e) {
            outcome(e.message(), "already_finished");
        }
    }

    private void outcome(Message message, String outcome) {
        counter(Metric.OUTCOMES, topic(message), outcome).increment();
    }

    /** The clocks of two nodes may differ. */
    private static Duration since(Instant event) {
        Duration age = Duration.between(event, Instant.now());
        return age.isNegative() ? Duration.ZERO : age;
    }

    private void onTopic(Event event) {
        if (event instanceof Event.Fetched e) {
            counter(Metric.CLAIMED, name(e.topic())).increment(e.count());
        } else if (event instanceof Event.HandedOver e) {
            counter(Metric.HANDED_OVER, name(e.topic())).increment(e.count());
        } else if (event instanceof Event.Swept e) {
            counter(Metric.SWEPT, name(e.topic())).increment(e.count());
        } else if (event instanceof Event.Suspected e) {
            counter(Metric.SUSPECTS, topic(e.message())).increment();
        } else if (event instanceof Event.FoundLate e) {
            counter(Metric.FOUND_LATE, name(e.topic())).increment(e.count());
        } else if (event instanceof Event.Duplicate e) {
            counter(Metric.DUPLICATES, topic(e.message()), e.samePayload() ? "same" : "different")
                    .increment();
        } else if (event instanceof Event.CircuitOpened e) {
            counter(Metric.CIRCUIT_OPENED, name(e.topic())).increment();
        } else if (event instanceof Event.StoreFailed) {
            counter(Metric.STORE_FAILURES).increment();
        } else if (event instanceof Event.Purged e) {
            purged("archived", e.archived());
            purged("dead", e.dead());
            purged("key", e.keys());
            purged("inbox_mark", e.inboxMarks());
        } else if (event instanceof Event.CommandsSwept e) {
            purged("command", e.removed());
        }
    }

    private void purged(String kind, int rows) {
        if (rows > 0) {
            counter(Metric.PURGED, kind).increment(rows);
        }
    }

    private void onInbox(Event event) {
        if (event instanceof Event.Processed e) {
            counter(Metric.INBOX, e.consumer(), "processed").increment();
            timer(Metric.INBOX_PROCESS, e.consumer()).record(e.took());
        } else if (event instanceof Event.DuplicateReceived e) {
            counter(Metric.INBOX, e.consumer(), "duplicate").increment();
        } else if (event instanceof Event.Collided e) {
            counter(Metric.INBOX, e.consumer(), "collision").increment();
        } else if (event instanceof Event.TooOldReceived e) {
            counter(Metric.INBOX, e.consumer(), "too_old").increment();
        } else if (event instanceof Event.Unhandled e) {
            counter(Metric.INBOX, e.consumer(), "no_handler").increment();
        }
    }

    private void onCommand(Event event) {
        if (event instanceof Event.CommandClaimed e) {
            command(e.operation(), "claimed");
        } else if (event instanceof Event.CommandTakenOver e) {
            command(e.operation(), "taken_over");
        } else if (event instanceof Event.CommandCompleted e) {
            command(e.operation(), e.rejected() ? "rejected" : "completed");
            timer(Metric.COMMAND, e.operation()).record(e.took());
        } else if (event instanceof Event.CommandFailed e) {
            command(e.operation(), "failed");
        } else if (event instanceof Event.CommandReplayed e) {
            command(e.operation(), "replayed");
        } else if (event instanceof Event.CommandConflict e) {
            command(e.operation(), "in_progress");
        } else if (event instanceof Event.CommandMismatch e) {
            command(e.operation(), "mismatch");
        } else if (event instanceof Event.CommandLost e) {
            command(e.operation(), "lost");
        } else if (event instanceof Event.CommandUncertain e) {
            command(e.operation(), "uncertain");
        }
    }

    private void command(String operation, String outcome) {
        counter(Metric.COMMANDS, operation, outcome).increment();
    }

    private static String topic(Message message) {
        return name(message.topic());
    }

    private static String name(TopicName topic) {
        return topic.toString();
    }

    private Counter counter(Metric metric, String... values) {
        return counters.computeIfAbsent(
                new Key(metric, List.of(values)),
                key -> Counter.builder(metric.meterName())
                        .description(metric.description())
                        .tags(tags(metric, key.values()))
                        .register(registry));
    }

    private Timer timer(Metric metric, String... values) {
        return timers.computeIfAbsent(
                new Key(metric, List.of(values)),
                key -> Timer.builder(metric.meterName())
                        .description(metric.description())
                        .tags(tags(metric, key.values()))
                        .serviceLevelObjectives(BUCKETS)
                        .register(registry));
    }

    private Tags tags(Metric metric, List<String> values) {
        return common.and(Gauges.tags(metric, values));
    }
}
