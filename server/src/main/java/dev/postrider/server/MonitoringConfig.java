package dev.postrider.server;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.health.HealthThresholds;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The properties of metrics and health in a configuration file. */
final class MonitoringConfig {

    static final String METRICS_PORT = "metrics-port";

    static final Duration SAMPLE_INTERVAL = Duration.ofSeconds(15);

    static final Group<MonitoringConfig> GROUP = new Group<MonitoringConfig>()
            .with(METRICS_PORT, (config, value) -> config.port(value.integer()))
            .with("metrics-host", (config, value) -> config.host = value.text())
            .with("sample-interval", (config, value) -> config.sampleInterval = value.duration())
            .with(
                    "health.backlog",
                    (config, value) -> config.thresholds = config.thresholds.with(t -> t.backlog(value.number())))
            .with(
                    "health.oldest-age",
                    (config, value) -> config.thresholds = config.thresholds.with(t -> t.oldestAge(value.duration())))
            .with(
                    "health.failure-ratio",
                    (config, value) -> config.thresholds = config.thresholds.with(t -> t.failureRatio(ratio(value))))
            .with(
                    "health.least-attempts",
                    (config, value) ->
                            config.thresholds = config.thresholds.with(t -> t.leastAttempts(value.integer())))
            .with(
                    "health.dead-letters",
                    (config, value) -> config.thresholds = config.thresholds.with(t -> t.deadLetters(value.number())))
            .with(
                    "health.blocked-keys",
                    (config, value) -> config.thresholds = config.thresholds.with(t -> t.blockedKeys(value.number())))
            .with(
                    "health.transaction-age",
                    (config, value) ->
                            config.thresholds = config.thresholds.with(t -> t.transactionAge(value.duration())))
            .with(
                    "health.clock-skew",
                    (config, value) -> config.thresholds = config.thresholds.with(t -> t.clockSkew(value.duration())))
            .with(
                    "health.window",
                    (config, value) -> config.thresholds = config.thresholds.with(t -> t.window(value.duration())));

    private @Nullable Integer port;
    private @Nullable String host;
    private Duration sampleInterval = SAMPLE_INTERVAL;
    private HealthThresholds thresholds = HealthThresholds.defaults();

    private static double ratio(Value value) {
        try {
            return Double.parseDouble(value.text());
        } catch (NumberFormatException e) {
            throw value.invalid("must be a number from 0 to 1, but is '" + value.text() + "'");
        }
    }

    /** Sets the port; 0 for a free one. */
    void port(int port) {
        if (port < 0 || port > 65_535) {
            throw new InvalidConfigurationException(METRICS_PORT, "must be 0 (any free port) to 65535, but is " + port);
        }
        this.port = port;
    }

    /** Returns where metrics and health are served: on the loopback interface unless told otherwise. Empty without a port. */
    Optional<InetSocketAddress> address() {
        if (port == null) {
            return Optional.empty();
        }
        InetSocketAddress address = host == null
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
                : new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new InvalidConfigurationException("metrics-host", "is not an address of this machine: " + host);
        }
        return Optional.of(address);
    }

    Duration sampleInterval() {
        return sampleInterval;
    }

    HealthThresholds thresholds() {
        return thresholds;
    }
}
