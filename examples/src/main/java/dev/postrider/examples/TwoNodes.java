package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.message.MessageId;
import dev.postrider.transport.DeliveryHandler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Two nodes, here in one process, deliver messages from one database. No message is claimed by both. */
public final class TwoNodes {

    private static final int MESSAGES = 200;

    private TwoNodes() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws InterruptedException {
        Map<MessageId, Integer> deliveries = new ConcurrentHashMap<>();
        CountDownLatch all = new CountDownLatch(MESSAGES);
        DeliveryHandler receiver = delivery -> {
            deliveries.merge(delivery.message().id(), 1, Integer::sum);
            all.countDown();
        };
        try (Postrider a = node(shop, "a", receiver);
                Postrider b = node(shop, "b", receiver)) {
            a.migrate();
            a.start();
            b.start();
            a.inTransaction(work -> {
                for (int order = 1; order <= MESSAGES; order++) {
                    work.stage(new Order(order).placed());
                }
            });
            say.accept("all arrived: " + all.await(20, TimeUnit.SECONDS));
        } // close() waits for the deliveries in flight

        long twice = deliveries.values().stream().filter(times -> times > 1).count();
        say.accept(deliveries.size() + " messages, " + twice + " of them twice");
    }

    private static Postrider node(Shop shop, String name, DeliveryHandler receiver) {
        return Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(receiver).maxInFlight(10))
                .dispatch(node -> node.worker(name).pollInterval(Duration.ofMillis(100)))
                .build();
    }
}
