package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.transport.DeliveryHandler;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class OptionsTest {

    private static final DeliveryHandler NOTHING = delivery -> {};

    @Test
    void defaultsAreThoseOfTheDocumentation() {
        assertThat(DispatchOptions.builder().build().describe())
                .containsExactlyInAnyOrderEntriesOf(Map.ofEntries(
                        Map.entry("poll-interval", "5s"),
                        Map.entry("batch-size", "100"),
                        Map.entry("lease", "30s"),
                        Map.entry("max-in-flight", "1000"),
                        Map.entry("max-in-flight-bytes", "67108864"),
                        Map.entry("drain-timeout", "20s"),
                        Map.entry("housekeeping-interval", "1m"),
                        Map.entry("archive-retention", "1d"),
                        Map.entry("dead-retention", "forever"),
                        Map.entry("key-retention", "30d"),
                        Map.entry("inbox-retention", "30d"),
                        Map.entry("purge-batch", "1000"),
                        Map.entry("hand-over", "true")));
        assertThat(Topic.named("orders").build().describe())
                .containsExactlyInAnyOrderEntriesOf(Map.ofEntries(
                        Map.entry("max-attempts", "5"),
                        Map.entry("base-delay", "10s"),
                        Map.entry("max-delay", "5m"),
                        Map.entry("max-in-flight", "100"),
                        Map.entry("breaker-failures", "100"),
                        Map.entry("breaker-pause", "30s"),
                        Map.entry("handler-timeout", "5m"),
                        Map.entry("handler-threads", "4"),
                        Map.entry("handlers-per-transaction", "1"),
                        Map.entry("tenant-prefixed-keys", "false"),
                        Map.entry("lanes", "0"),
                        Map.entry("on-failure", "block"),
                        Map.entry("block-after-dead-letter", "true"),
                        Map.entry("on-expiry", "dead-letter"),
                        Map.entry("archive", "inherited"),
                        Map.entry("compress-payloads-above", "0"),
                        Map.entry("encrypt-payloads", "none")));
    }

    @ParameterizedTest
    @MethodSource
    void badOptionNamesItsProperty(String property, Consumer<DispatchOptions.Builder> mistake) {
        DispatchOptions.Builder builder = DispatchOptions.builder();
        mistake.accept(builder);

        assertThatThrownBy(builder::build)
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.property()).isEqualTo(property))
                .hasMessageStartingWith(property + " ");
    }

    static Stream<Arguments> badOptionNamesItsProperty() {
        Duration negative = Duration.ofSeconds(-1);
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        return Stream.of(
                option("worker", o -> o.worker(" ")),
                option("worker", o -> o.worker("x".repeat(101))),
                option("worker", o -> o.worker("a\nFORGED line")),
                option("worker", o -> o.worker("a\u2028FORGED line")),
                option("poll-interval", o -> o.pollInterval(Duration.ZERO)),
                option("poll-interval", o -> o.pollInterval(negative)),
                option("poll-interval", o -> o.pollInterval(Duration.ofNanos(1))),
                option("poll-interval", o -> o.pollInterval(Duration.ofMillis(10_001))),
                option("poll-interval", o -> o.lease(Duration.ofSeconds(14))),
                option("lease", o -> o.lease(Duration.ZERO)),
                option("lease", o -> o.lease(negative)),
                option("lease", o -> o.lease(Duration.ofMillis(999))),
                option("lease", o -> o.lease(Duration.ofHours(25))),
                option("lease", o -> o.lease(endless)),
                option("batch-size", o -> o.batchSize(0)),
                option("batch-size", o -> o.batchSize(-1)),
                option("batch-size", o -> o.batchSize(Integer.MAX_VALUE)),
                option("max-in-flight", o -> o.maxInFlight(0)),
                option("max-in-flight", o -> o.maxInFlight(Integer.MAX_VALUE)),
                option("max-in-flight-bytes", o -> o.maxInFlightBytes(0)),
                option("drain-timeout", o -> o.drainTimeout(negative)),
                option("drain-timeout", o -> o.drainTimeout(endless)),
                option("housekeeping-interval", o -> o.housekeepingInterval(Duration.ZERO)),
                option("housekeeping-interval", o -> o.housekeepingInterval(endless)),
                option("poll-interval", o -> o.pollInterval(endless)),
                option("archive-retention", o -> o.archiveRetention(Duration.ZERO)),
                option("archive-retention", o -> o.archiveRetention(endless)),
                option("dead-retention", o -> o.deadRetention(negative)),
                option("key-retention", o -> o.keyRetention(Duration.ZERO)),
                option("inbox-retention", o -> o.inboxRetention(Duration.ZERO)),
                option("purge-batch", o -> o.purgeBatch(0)),
                option("purge-batch", o -> o.purgeBatch(10_001)));
    }

    private static Arguments option(String property, Consumer<DispatchOptions.Builder> mistake) {
        return Arguments.of(property, mistake);
    }

    @ParameterizedTest
    @MethodSource
    void badTopicNamesItsProperty(String property, Consumer<Topic.Builder> mistake) {
        Topic.Builder builder = Topic.named("orders");

        assertThatThrownBy(() -> {
                    mistake.accept(builder);
                    builder.build();
                })
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.property()).isEqualTo("topic.orders." + property));
    }

    static Stream<Arguments> badTopicNamesItsProperty() {
        return Stream.of(
                topic("max-attempts", t -> t.maxAttempts(0)),
                topic("max-attempts", t -> t.maxAttempts(-1)),
                topic("max-attempts", t -> t.maxAttempts(Integer.MAX_VALUE)),
                topic("max-in-flight", t -> t.maxInFlight(0)),
                topic("max-in-flight", t -> t.maxInFlight(10_001)),
                topic("breaker-failures", t -> t.breakerFailures(-1)),
                topic("breaker-pause", t -> t.breakerPause(Duration.ZERO)),
                topic("handler-timeout", t -> t.handlerTimeout(Duration.ZERO)),
                topic("handler-timeout", t -> t.handlerTimeout(Duration.ofNanos(1))),
                topic("handler-timeout", t -> t.handlerTimeout(Duration.ofSeconds(Long.MAX_VALUE))),
                topic("base-delay", t -> t.baseDelay(Duration.ZERO)),
                topic("max-delay", t -> t.maxDelay(Duration.ofSeconds(9))),
                topic("max-delay", t -> t.maxDelay(Duration.ofDays(365))),
                topic("deliver", t -> t.deliver(NOTHING).deliver(NOTHING)));
    }

    private static Arguments topic(String property, Consumer<Topic.Builder> mistake) {
        return Arguments.of(property, mistake);
    }

    @Test
    void extremesThatWorkAreAccepted() {
        DispatchOptions.builder()
                .lease(Duration.ofHours(24))
                .pollInterval(Duration.ofHours(8))
                .batchSize(10_000)
                .drainTimeout(Duration.ZERO)
                .build();
        Topic.named("orders").maxAttempts(1).maxInFlight(1).tenants(Set.of("a")).build();
    }

    @Test
    void topicWithoutADestinationIsNotDelivered() {
        assertThat(Topic.named("orders").build().isDelivered()).isFalse();
        assertThat(Topic.named("orders").deliver(NOTHING).build().isDelivered()).isTrue();
    }

    @Test
    void durationsAreWrittenInTheLargestUnitThatFits() {
        assertThat(DispatchOptions.text(Duration.ofDays(30))).isEqualTo("30d");
        assertThat(DispatchOptions.text(Duration.ofHours(36))).isEqualTo("36h");
        assertThat(DispatchOptions.text(Duration.ofMinutes(90))).isEqualTo("90m");
        assertThat(DispatchOptions.text(Duration.ofSeconds(61))).isEqualTo("61s");
        assertThat(DispatchOptions.text(Duration.ofMillis(1500))).isEqualTo("1500ms");
    }
}
