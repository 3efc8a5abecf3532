package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Repair;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.transport.DeliveryHandler;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** What an operator does after a receiver has lost data: deliver again what was delivered since its last backup. */
public final class RedeliveringMessages {

    private RedeliveringMessages() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        Map<MessageId, String> warehouse = new LinkedHashMap<>(); // accepts each message id once
        DeliveryHandler delivery = sent -> warehouse.putIfAbsent(
                sent.message().id(), sent.message().payload().asText());
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(delivery))
                .build();
        postrider.migrate();
        postrider.inTransaction(work -> {
            for (int number = 1; number <= 3; number++) {
                work.stage(Message.to("orders")
                        .type("order.placed")
                        .text("order " + number)
                        .build());
            }
        });
        postrider.deliverDue(); // in this thread; a service calls start() once instead
        say.accept("the warehouse has " + warehouse.size() + " orders");

        MessageId last = warehouse.keySet().stream().reduce((a, b) -> b).orElseThrow();
        warehouse.remove(last);
        say.accept("the warehouse is restored from a backup and has " + warehouse.size());

        Admin admin = postrider.admin();
        Filter sinceTheBackup = Filter.delivered().topic("orders").delivered(null, Instant.now());
        ChangeResult counted = admin.apply(Action.REDELIVER, sinceTheBackup, Change.dryRun());
        say.accept("would redeliver " + counted.changed());
        Change change = Change.by("ann").reason("warehouse restored");
        ChangeResult result = admin.apply(Action.REDELIVER, sinceTheBackup, change);
        postrider.deliverDue();
        say.accept("redelivered " + result.changed() + ", the warehouse has " + warehouse.size() + " orders");

        Repair asNew = admin.apply(Action.REDELIVER_AS_NEW, last, change);
        postrider.deliverDue();
        say.accept("as a new message: " + asNew + ", the warehouse has " + warehouse.size() + " entries");
    }
}
