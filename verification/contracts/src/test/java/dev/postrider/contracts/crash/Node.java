package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryHandler;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;

/** A dispatcher in the test's own process, with connections of its own: the one that survives. */
final class Node implements AutoCloseable {

    /** One attempt, and when it came in. */
    record Seen(String order, int attempt, long nanos) {}

    private final Queue<Seen> seen = new ConcurrentLinkedQueue<>();
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final Postrider postrider;

    Node(String name, DataSource dataSource, Pace pace, DeliveryHandler handler) {
        this.postrider = Orders.configured(
                        dataSource,
                        topic -> topic.deliver((Delivery delivery) -> {
                                    seen.add(new Seen(
                                            Orders.of(delivery.message()), delivery.attempt(), System.nanoTime()));
                                    handler.handle(delivery);
                                })
                                .maxInFlight(pace.inFlight()))
                .dispatch(options -> pace.set(options, name))
                .listener(events::add)
                .build();
    }

    void start() {
        postrider.start();
    }

    List<Seen> seen() {
        return List.copyOf(seen);
    }

    int count() {
        return seen.size();
    }

    <E extends Event> List<E> events(Class<E> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    @Override
    public void close() {
        postrider.close();
    }
}
