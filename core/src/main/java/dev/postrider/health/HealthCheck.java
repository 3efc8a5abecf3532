package dev.postrider.health;

import dev.postrider.admin.Count;
import dev.postrider.admin.OldestTransaction;
import dev.postrider.admin.Sample;
import dev.postrider.admin.TopicSample;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.event.NodeLoad;
import dev.postrider.health.Health.Cause;
import dev.postrider.health.Health.HealthFinding;
import dev.postrider.health.Health.Status;
import dev.postrider.internal.Platform;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Judges the health of a Postrider from its events. Add it as a listener, and let the Postrider publish samples:
 *
 * <pre>{@code
 * HealthCheck health = HealthCheck.with(HealthThresholds.defaults());
 * Postrider postrider = Postrider.on(dataSource).listener(health).sampleEvery(Duration.ofSeconds(15)).build();
 * }</pre>
 *
 * {@link #now} asks the database nothing. Thread-safe.
 */
public final class HealthCheck implements EventListener {

    /** A database that failed counts as not answering until the next sample, at least for this time. */
    private static final Duration LEAST_PATIENCE = Duration.ofSeconds(30);

    private static final int MISSED_SAMPLES = 3;

    private final HealthThresholds thresholds;
    private final Platform platform;
    private final RollingWindow window;
    private @Nullable LastSample last;
    private @Nullable Failure failure;
    private Duration pause = Duration.ofSeconds(15);
    private final long began;

    private record LastSample(Sample sample, NodeLoad node, long at) {}

    private record Failure(String doing, String error) {}

    private HealthCheck(HealthThresholds thresholds, Platform platform) {
        this.thresholds = thresholds;
        this.platform = platform;
        this.window = new RollingWindow(thresholds.window(), platform);
        this.began = platform.nanos();
    }

    /** Creates a check. Add it to one Postrider as a listener. */
    public static HealthCheck with(HealthThresholds thresholds) {
        return new HealthCheck(thresholds, Platform.system());
    }

    static HealthCheck with(HealthThresholds thresholds, Platform platform) {
        return new HealthCheck(thresholds, platform);
    }

    /** Returns the attempts of the last minutes on this node. */
    public RollingWindow window() {
        return window;
    }

    @Override
    public void on(Event event) {
        window.on(event);
        if (event instanceof Event.Sampled e) {
            sampled(e);
        } else if (event instanceof Event.StoreFailed e) {
            failed(new Failure(e.doing(), e.error()));
        }
    }

    /** The node that should take the next sample may be lost: then the same sample comes again. */
    private synchronized void sampled(Event.Sampled event) {
        LastSample before = last;
        Instant takenAt = event.sample().takenAt();
        long at = before != null && before.sample().takenAt().equals(takenAt) ? before.at() : platform.nanos();
        last = new LastSample(event.sample(), event.node(), at);
        pause = event.sample().pause(event.interval());
        failure = null;
    }

    private synchronized void failed(Failure now) {
        failure = now;
    }

    /** Returns the health now. */
    public synchronized Health now() {
        List<HealthFinding> findings = new ArrayList<>();
        checkFreshness(findings);
        LastSample seen = last;
        if (seen != null) {
            checkNode(findings, seen.node());
            checkDatabase(findings, seen.sample());
            seen.sample().topics().forEach(topic -> checkTopic(findings, topic));
        }
        checkWindow(findings);
        findings.sort(Comparator.comparing(HealthFinding::status).reversed());
        return new Health(findings.isEmpty() ? Status.OK : findings.get(0).status(), findings);
    }

    private void checkFreshness(List<HealthFinding> findings) {
        LastSample seen = last;
        Duration since = Duration.ofNanos(platform.nanos() - (seen == null ? began : seen.at()));
        boolean isLate = since.compareTo(LEAST_PATIENCE) > 0 && since.compareTo(pause.multipliedBy(MISSED_SAMPLES)) > 0;
        Failure failed = failure;
        if (failed != null) {
            add(
                    findings,
                    isLate ? Status.UNHEALTHY : Status.DEGRADED,
                    Cause.DATABASE,
                    null,
                    "The database failed (" + failed.doing() + "): " + failed.error());
        } else if (seen == null || isLate) {
            add(
                    findings,
                    isLate ? Status.UNHEALTHY : Status.DEGRADED,
                    Cause.NO_SAMPLE,
                    null,
                    seen == null
                            ? "There is no sample of the database yet"
                            : "The last sample of the database came " + text(since) + " ago");
        }
    }

    private void checkNode(List<HealthFinding> findings, NodeLoad node) {
        if (!node.schemaProblem().isEmpty()) {
            add(
                    findings,
                    Status.UNHEALTHY,
                    Cause.SCHEMA,
                    null,
                    "This node does not fit the tables: " + node.schemaProblem());
        }
        Duration skew = node.clockSkew();
        if (skew.abs().compareTo(thresholds.clockSkew()) > 0) {
            add(
                    findings,
                    Status.DEGRADED,
                    Cause.CLOCK_SKEW,
                    null,
                    "The clock of node " + node.node() + " is " + text(skew.abs())
                            + (skew.isNegative() ? " behind" : " ahead of") + " that of the database");
        }
        for (NodeLoad.TopicLoad topic : node.topics()) {
            if (topic.circuit() != NodeLoad.Circuit.CLOSED) {
                add(
                        findings,
                        Status.DEGRADED,
                        Cause.CIRCUIT_OPEN,
                        topic.topic(),
                        "The circuit breaker of topic " + topic.topic() + " is "
                                + topic.circuit()
                                        .name()
                                        .toLowerCase(Locale.ROOT)
                                        .replace('_', '-') + " on node "
                                + node.node() + frequentError(topic.topic()));
            }
        }
    }

    private void checkDatabase(List<HealthFinding> findings, Sample sample) {
        OldestTransaction oldest = sample.oldestTransaction();
        if (oldest != null && oldest.age().compareTo(thresholds.transactionAge()) > 0) {
            add(
                    findings,
                    Status.DEGRADED,
                    Cause.OLD_TRANSACTION,
                    null,
                    "The transaction of session " + oldest.session() + " (" + oldest.description() + ") has run for "
                            + text(oldest.age()) + ": removed rows stay in the tables until it ends");
        }
    }

    private void checkTopic(List<HealthFinding> findings, TopicSample topic) {
        TopicName name = topic.topic();
        if (topic.isStranded() && !topic.paused()) {
            add(
                    findings,
                    Status.UNHEALTHY,
                    Cause.NO_NODE,
                    name,
                    "No live node delivers topic " + name + ", which has " + text(topic.backlog()) + " messages");
        }
        if (topic.backlog().mayBeAbove(thresholds.backlog())) {
            add(
                    findings,
                    Status.DEGRADED,
                    Cause.BACKLOG,
                    name,
                    "Topic " + name + " has " + text(topic.backlog()) + " messages to deliver"
                            + compared(topic.backlog(), thresholds.backlog()) + paused(topic));
        }
        if (topic.oldest().compareTo(thresholds.oldestAge()) > 0 && !topic.paused()) {
            add(
                    findings,
                    Status.DEGRADED,
                    Cause.OLDEST_AGE,
                    name,
                    "The oldest message of topic " + name + " has waited for " + text(topic.oldest()) + ", longer than "
                            + text(thresholds.oldestAge()) + frequentError(name));
        }
        if (topic.dead().mayBeAbove(thresholds.deadLetters())) {
            add(
                    findings,
                    Status.DEGRADED,
                    Cause.DEAD_LETTERS,
                    name,
                    "Topic " + name + " has " + text(topic.dead()) + " dead letters"
                            + compared(topic.dead(), thresholds.deadLetters()));
        }
        if (topic.blockedKeys().mayBeAbove(thresholds.blockedKeys())) {
            add(
                    findings,
                    Status.DEGRADED,
                    Cause.BLOCKED_KEYS,
                    name,
                    "Topic " + name + " has " + text(topic.blockedKeys()) + " blocked keys, with "
                            + text(topic.blocked()) + " messages behind their heads" + frequentError(name));
        }
        if (topic.expiredLeases().isAbove(0)) {
            add(
                    findings,
                    Status.DEGRADED,
                    Cause.EXPIRED_LEASES,
                    name,
                    "Topic " + name + " has " + text(topic.expiredLeases())
                            + " leases that have ended and were not taken over: a node was lost or is late");
        }
    }

    /** A count that ended at its limit says nothing about a higher threshold, so it counts as above. */
    private static String compared(Count count, long threshold) {
        return count.isAbove(threshold)
                ? ", more than " + threshold
                : ", and the count ended below the threshold of " + threshold;
    }

    private static String paused(TopicSample topic) {
        return topic.paused() ? ": it is paused" : "";
    }

    private void checkWindow(List<HealthFinding> findings) {
        window.topics().forEach((topic, attempts) -> {
            boolean enough = attempts.delivered() + attempts.failed() >= thresholds.leastAttempts();
            if (enough && attempts.failureRatio() > thresholds.failureRatio()) {
                add(
                        findings,
                        attempts.delivered() == 0 ? Status.UNHEALTHY : Status.DEGRADED,
                        Cause.FAILURE_RATIO,
                        topic,
                        attempts.failed() + " of " + (attempts.delivered() + attempts.failed())
                                + " attempts of topic " + topic + " failed in the last " + text(thresholds.window())
                                + frequentError(topic));
            }
        });
    }

    private String frequentError(TopicName topic) {
        RollingWindow.Attempts attempts = window.topics().get(topic);
        return attempts == null || attempts.frequentError() == null
                ? ""
                : ", most often with: " + attempts.frequentError() + " (" + times(attempts.frequentErrorCount()) + ")";
    }

    private static String times(long count) {
        return count == 1 ? "once" : count + " times";
    }

    private static void add(
            List<HealthFinding> findings, Status status, Cause cause, @Nullable TopicName topic, String text) {
        findings.add(new HealthFinding(status, cause, topic, text));
    }

    private static String text(Count count) {
        return count.exact() ? Long.toString(count.value()) : "at least " + count.value();
    }

    /** In the largest unit that is at least one: 3 h, 12 min, 45 s, 20 ms. */
    private static String text(Duration duration) {
        if (duration.toHours() >= 2) {
            return duration.toHours() + " h";
        }
        if (duration.toMinutes() >= 2) {
            return duration.toMinutes() + " min";
        }
        return duration.toSeconds() >= 2 ? duration.toSeconds() + " s" : duration.toMillis() + " ms";
    }
}
