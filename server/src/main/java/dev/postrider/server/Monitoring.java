package dev.postrider.server;

import dev.postrider.PostriderBuilder;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.health.Health;
import dev.postrider.health.HealthCheck;
import dev.postrider.micrometer.PostriderMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.jspecify.annotations.Nullable;

/** What the relay shows about itself: metrics, the last sample, and its health. Thread-safe. */
final class Monitoring implements EventListener {

    private final MonitoringConfig config;
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final HealthCheck health;
    private volatile Event.@Nullable Sampled last;
    private volatile boolean delivering;

    Monitoring(MonitoringConfig config) {
        this.config = config;
        this.health = HealthCheck.with(config.thresholds());
    }

    PostriderBuilder into(PostriderBuilder builder) {
        PostriderMetrics metrics =
                PostriderMetrics.create().window(config.thresholds().window());
        metrics.bindTo(registry);
        return builder.listener(metrics).listener(health).listener(this).sampleEvery(config.sampleInterval());
    }

    /** Judges the events of this relay. */
    HealthCheck check() {
        return health;
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Sampled sampled) {
            last = sampled;
        }
    }

    /** @param delivering whether the relay has started and does not drain */
    void delivering(boolean delivering) {
        this.delivering = delivering;
    }

    /** In the text format of Prometheus. */
    String metrics() {
        return registry.scrape();
    }

    String json() {
        return MonitoringText.snapshot(health.now(), last, health.window());
    }

    String healthJson() {
        return MonitoringText.health(health.now());
    }

    /** Whether the relay delivers, reaches its database, and fits the tables. */
    boolean isReady() {
        return delivering && health.now().isReady();
    }

    boolean isUnhealthy() {
        return health.now().status() == Health.Status.UNHEALTHY;
    }
}
