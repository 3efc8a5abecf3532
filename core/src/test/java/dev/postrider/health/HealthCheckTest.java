package dev.postrider.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.admin.Count;
import dev.postrider.admin.OldestTransaction;
import dev.postrider.admin.Sample;
import dev.postrider.admin.TopicSample;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.event.Event;
import dev.postrider.event.NodeLoad;
import dev.postrider.event.NodeLoad.Circuit;
import dev.postrider.event.NodeLoad.TopicLoad;
import dev.postrider.health.Health.Cause;
import dev.postrider.health.Health.Status;
import dev.postrider.internal.MovedClock;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class HealthCheckTest {

    private static final TopicName ORDERS = TopicName.of("orders");
    private static final Count NONE = Count.ZERO;

    private final MovedClock time = new MovedClock();
    private int samples;
    private final HealthCheck check = HealthCheck.with(HealthThresholds.defaults(), time);

    private static TopicSample topic(int nodes, Count waiting, Count dead, Count blockedKeys, Duration oldest) {
        return new TopicSample(
                ORDERS, false, nodes, waiting, NONE, NONE, NONE, NONE, NONE, dead, blockedKeys, NONE, NONE, oldest);
    }

    private Sample sample(@Nullable OldestTransaction oldest, TopicSample... topics) {
        return new Sample(
                Instant.EPOCH.plusSeconds(samples),
                "node-1",
                Duration.ofMillis(3),
                List.of(topics),
                NONE,
                NONE,
                Map.of(),
                NONE,
                oldest);
    }

    private static NodeLoad node(Duration skew, String schemaProblem, Circuit circuit) {
        return new NodeLoad("node-1", 0, skew, schemaProblem, List.of(new TopicLoad(ORDERS, 0, 100, 0, circuit)));
    }

    private void sampled(TopicSample topic) {
        samples++;
        publish(sample(null, topic), node(Duration.ZERO, "", Circuit.CLOSED));
    }

    private void publish(Sample sample, NodeLoad node) {
        check.on(new Event.Sampled(sample, node, Duration.ofSeconds(15)));
    }

    private void assertOnly(Status status, Cause cause, String text) {
        Health health = check.now();
        assertThat(health.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.cause()).isEqualTo(cause);
            assertThat(finding.status()).isEqualTo(status);
            assertThat(finding.text()).isEqualTo(text);
        });
        assertThat(health.status()).isEqualTo(status);
    }

    @Test
    void quietTopicIsHealthy() {
        sampled(topic(1, Count.exactly(10_000), NONE, NONE, Duration.ofMinutes(5)));

        assertThat(check.now()).isEqualTo(new Health(Status.OK, List.of()));
        assertThat(check.now().isReady()).isTrue();
    }

    @Test
    void backlogThatEndsAtTheLimitOfItsCountIsNamedSo() {
        sampled(topic(1, new Count(10_001, false), NONE, NONE, Duration.ZERO));
        assertOnly(
                Status.DEGRADED, Cause.BACKLOG, "Topic orders has at least 10001 messages to deliver, more than 10000");
    }

    @Test
    void backlogWhoseCountEndsBelowTheThresholdIsReported() {
        sampled(topic(1, new Count(8_334, false), NONE, NONE, Duration.ZERO));
        assertOnly(
                Status.DEGRADED,
                Cause.BACKLOG,
                "Topic orders has at least 8334 messages to deliver, and the count ended below the threshold of 10000");
    }

    @Test
    void topicWithoutANodeIsUnhealthyAndTheNodeIsReady() {
        sampled(topic(0, Count.exactly(7), NONE, NONE, Duration.ZERO));
        assertOnly(Status.UNHEALTHY, Cause.NO_NODE, "No live node delivers topic orders, which has 7 messages");
        assertThat(check.now().isReady()).isTrue();
    }

    @Test
    void oldMessageIsReportedWithTheErrorThatCameMostOften() {
        Message message = Message.to(ORDERS).type("order.placed").json("{}").build();
        check.on(new Event.Failed(message, 1, 5, "503 from shop.example", Duration.ofSeconds(10), null));
        sampled(topic(1, Count.exactly(1), NONE, NONE, Duration.ofMinutes(12)));

        assertOnly(
                Status.DEGRADED,
                Cause.OLDEST_AGE,
                "The oldest message of topic orders has waited for 12 min, longer than 5 min,"
                        + " most often with: 503 from shop.example (once)");
    }

    @Test
    void deadLettersAndBlockedKeysAreReported() {
        sampled(topic(1, NONE, Count.exactly(3), Count.exactly(2), Duration.ZERO));

        assertThat(check.now().findings())
                .extracting(Health.HealthFinding::text)
                .containsExactly(
                        "Topic orders has 3 dead letters, more than 0",
                        "Topic orders has 2 blocked keys, with 0 messages behind their heads");
    }

    @Test
    void failureRatioIsReportedFromEnoughAttemptsOn() {
        Message message = Message.to(ORDERS).type("order.placed").json("{}").build();
        sampled(topic(1, NONE, NONE, NONE, Duration.ZERO));
        for (int i = 0; i < 19; i++) {
            check.on(new Event.Failed(message, 1, 5, "down", Duration.ofSeconds(10), null));
        }
        assertThat(check.now().status()).isEqualTo(Status.OK);

        check.on(new Event.Failed(message, 1, 5, "down", Duration.ofSeconds(10), null));

        assertOnly(
                Status.UNHEALTHY,
                Cause.FAILURE_RATIO,
                "20 of 20 attempts of topic orders failed in the last 5 min, most often with: down (20 times)");
    }

    @Test
    void openCircuitBreakerIsReported() {
        publish(sample(null), node(Duration.ZERO, "", Circuit.HALF_OPEN));
        assertOnly(
                Status.DEGRADED, Cause.CIRCUIT_OPEN, "The circuit breaker of topic orders is half-open on node node-1");
    }

    @Test
    void oldTransactionIsReportedWithItsSession() {
        OldestTransaction oldest = new OldestTransaction("4711", "user app, idle in transaction", Duration.ofHours(3));
        publish(sample(oldest), node(Duration.ZERO, "", Circuit.CLOSED));
        assertOnly(
                Status.DEGRADED,
                Cause.OLD_TRANSACTION,
                "The transaction of session 4711 (user app, idle in transaction) has run for 3 h:"
                        + " removed rows stay in the tables until it ends");
    }

    @Test
    void clockSkewIsReported() {
        publish(sample(null), node(Duration.ofSeconds(-9), "", Circuit.CLOSED));
        assertOnly(Status.DEGRADED, Cause.CLOCK_SKEW, "The clock of node node-1 is 9 s behind that of the database");
    }

    @Test
    void nodeThatDoesNotFitTheTablesIsNotReady() {
        publish(sample(null), node(Duration.ZERO, "too old", Circuit.CLOSED));
        assertOnly(Status.UNHEALTHY, Cause.SCHEMA, "This node does not fit the tables: too old");
        assertThat(check.now().isReady()).isFalse();
    }

    @Test
    void databaseThatFailsIsUnhealthyWhenNoSampleFollows() {
        sampled(topic(1, NONE, NONE, NONE, Duration.ZERO));
        check.on(new Event.StoreFailed("claim", "connection refused", Duration.ofSeconds(1)));
        assertOnly(Status.DEGRADED, Cause.DATABASE, "The database failed (claim): connection refused");
        assertThat(check.now().isReady()).isTrue();

        time.pass(Duration.ofMinutes(1));
        assertOnly(Status.UNHEALTHY, Cause.DATABASE, "The database failed (claim): connection refused");
        assertThat(check.now().isReady()).isFalse();

        sampled(topic(1, NONE, NONE, NONE, Duration.ZERO));
        assertThat(check.now().status()).isEqualTo(Status.OK);
    }

    @Test
    void missingSampleIsReported() {
        assertOnly(Status.DEGRADED, Cause.NO_SAMPLE, "There is no sample of the database yet");
        sampled(topic(1, NONE, NONE, NONE, Duration.ZERO));
        time.pass(Duration.ofSeconds(46));
        assertOnly(Status.UNHEALTHY, Cause.NO_SAMPLE, "The last sample of the database came 46 s ago");
    }

    @Test
    void sampleThatComesAgainIsNotNew() {
        Sample same = sample(null);
        publish(same, node(Duration.ZERO, "", Circuit.CLOSED));
        time.pass(Duration.ofSeconds(46));
        publish(same, node(Duration.ZERO, "", Circuit.CLOSED));
        assertOnly(Status.UNHEALTHY, Cause.NO_SAMPLE, "The last sample of the database came 46 s ago");
    }

    @Test
    void thresholdOutOfRangeIsRefusedByItsName() {
        assertThatThrownBy(() -> HealthThresholds.defaults().with(t -> t.failureRatio(1.5)))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("health.failure-ratio");
    }
}
