package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.transport.DeliveryHandler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** A listener receives every event of the log as a record. This one counts deliveries. */
public final class ListeningToEvents {

    private ListeningToEvents() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        AtomicLong delivered = new AtomicLong();
        AtomicLong failed = new AtomicLong();
        EventListener counter = event -> {
            if (event instanceof Event.Settled batch) {
                delivered.addAndGet(batch.delivered());
                failed.addAndGet(batch.failed());
            } else if (event instanceof Event.Buried dead) {
                say.accept("dead: " + dead.message().id() + ", " + dead.reason());
            }
        };
        DeliveryHandler hesitant = delivery -> {
            if (delivery.attempt() == 1) {
                throw new IllegalStateException("not yet");
            }
        };
        RetryPolicy atOnce = RetryPolicy.constant(Duration.ZERO);
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(hesitant).retry(atOnce))
                .listener(counter)
                .build();
        postrider.migrate();

        postrider.inTransaction(work -> {
            work.stage(new Order(1).placed());
            work.stage(new Order(2).placed());
            work.stage(new Order(3).placed());
        });
        postrider.deliverDue();
        say.accept("delivered " + delivered + ", failed attempts " + failed);
    }
}
