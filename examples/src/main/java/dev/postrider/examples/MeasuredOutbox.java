package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.health.Health;
import dev.postrider.health.HealthCheck;
import dev.postrider.health.HealthThresholds;
import dev.postrider.micrometer.Metric;
import dev.postrider.micrometer.PostriderMetrics;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.transport.DeliveryHandler;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Metrics for Micrometer, and the health in words. */
public final class MeasuredOutbox {

    private MeasuredOutbox() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws InterruptedException {
        MeterRegistry registry = new SimpleMeterRegistry();
        DeliveryHandler hesitant = delivery -> {
            if (delivery.attempt() == 1) {
                throw new IllegalStateException("not yet");
            }
        };
        RetryPolicy atOnce = RetryPolicy.constant(Duration.ZERO);

        PostriderMetrics metrics = PostriderMetrics.create();
        metrics.bindTo(registry);
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(hesitant).retry(atOnce))
                .listener(metrics)
                .sampleEvery(Duration.ofSeconds(15))
                .build();
        postrider.migrate();
        postrider.inTransaction(work -> work.stage(new Order(1).placed()));
        postrider.deliverDue();
        say.accept("delivered " + outcomes(registry, "delivered") + ", failed " + outcomes(registry, "failed"));

        HealthCheck health = HealthCheck.with(HealthThresholds.defaults().with(limits -> limits.deadLetters(10)));
        CountDownLatch sampled = new CountDownLatch(1);
        try (Postrider node = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(delivery -> {}))
                .listener(health)
                .listener(event -> {
                    if (event instanceof Event.Sampled) {
                        sampled.countDown();
                    }
                })
                .sampleEvery(Duration.ofMillis(200))
                .build()) {
            node.start();
            sampled.await(30, TimeUnit.SECONDS);
            say.accept("health: " + health.now().status());
            for (Health.HealthFinding finding : health.now().findings()) {
                say.accept(finding.text());
            }
        }
    }

    private static int outcomes(MeterRegistry registry, String outcome) {
        return (int) registry.get(Metric.OUTCOMES.meterName())
                .tag("outcome", outcome)
                .counter()
                .count();
    }
}
