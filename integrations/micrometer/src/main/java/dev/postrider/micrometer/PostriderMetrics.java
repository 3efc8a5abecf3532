package dev.postrider.micrometer;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Fills the meters of {@link Metric} from the events of a Postrider:
 *
 * <pre>{@code
 * PostriderMetrics metrics = PostriderMetrics.create();
 * metrics.bindTo(registry);
 * Postrider postrider = Postrider.on(dataSource).listener(metrics).sampleEvery(Duration.ofSeconds(15)).build();
 * }</pre>
 *
 * Without {@code sampleEvery} the gauges stay absent. The meters of topics, consumers and operations appear with their
 * first event. Bind it before the start: events before that are not counted. Thread-safe.
 */
public final class PostriderMetrics implements MeterBinder, EventListener {

    private static final Duration WINDOW = Duration.ofMinutes(5);

    private final Tags tags;
    private final Duration window;
    private final List<Meters> bound = new CopyOnWriteArrayList<>();

    private PostriderMetrics(Tags tags, Duration window) {
        this.tags = tags;
        this.window = window;
    }

    /** Creates metrics without further tags, and with a window of 5 minutes for the failure ratio. */
    public static PostriderMetrics create() {
        return new PostriderMetrics(Tags.empty(), WINDOW);
    }

    /** Returns metrics with one more tag on every meter, such as the name of the node. Call it before binding. */
    public PostriderMetrics tagged(String key, String value) {
        return new PostriderMetrics(tags.and(key, value), window);
    }

    /** Returns metrics with another rolling window of the failure ratio. Call it before binding. */
    public PostriderMetrics window(Duration length) {
        return new PostriderMetrics(tags, length);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        bound.add(new Meters(registry, tags, window));
    }

    @Override
    public void on(Event event) {
        bound.forEach(meters -> meters.on(event));
    }
}
