package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationTerms;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** What an operator does with more dead letters than one call should change: replay them in the background, and watch. */
public final class BackgroundRepair {

    private static final int ORDERS = 20;

    private BackgroundRepair() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws InterruptedException {
        AtomicBoolean routed = new AtomicBoolean();
        CountDownLatch dead = new CountDownLatch(ORDERS);
        CountDownLatch delivered = new CountDownLatch(ORDERS);
        CountDownLatch ended = new CountDownLatch(1);
        DeliveryHandler warehouse = delivery -> {
            if (!routed.get()) {
                throw new PermanentFailureException("no route");
            }
        };
        try (Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(warehouse))
                .listener(event -> {
                    if (event instanceof Event.Buried) {
                        dead.countDown();
                    } else if (event instanceof Event.Delivered) {
                        delivered.countDown();
                    } else if (event instanceof Event.OperationEnded) {
                        ended.countDown();
                    }
                })
                .build()) {
            postrider.migrate();
            postrider.start();
            postrider.inTransaction(work -> {
                for (int number = 1; number <= ORDERS; number++) {
                    work.stage(Message.to("orders")
                            .type("order.placed")
                            .text("" + number)
                            .build());
                }
            });
            await(dead);
            routed.set(true);

            Admin admin = postrider.admin();
            OperationTerms terms =
                    OperationTerms.by("ann").reason("route restored").perSecond(5000);
            Operation started = admin.start(Action.REPLAY, Filter.dead().topic("orders"), terms);
            say.accept(started.state() + ": " + started.action() + " " + started.filter());
            await(ended); // or ask now and then, from any process
            Operation operation = admin.operation(started.id()).orElseThrow();
            say.accept(operation.state() + ": changed " + operation.changed() + ", skipped " + operation.skipped());

            await(delivered);
            say.accept("delivered " + ORDERS);
            AuditEntry entry = admin.audit(Long.MAX_VALUE, 1).get(0);
            say.accept(entry.operator() + " " + entry.action() + " " + entry.changed() + ": " + entry.reason());
        }
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("It did not happen within 30 seconds");
        }
    }
}
