package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.FailureGroup;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Paging;
import dev.postrider.message.Message;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** What an operator does after an outage: look at the failures in groups, count what an action would change, and replay a group. */
public final class RepairingFailures {

    private RepairingFailures() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        AtomicBoolean routed = new AtomicBoolean();
        DeliveryHandler warehouse = delivery -> {
            if (delivery.message().type().equals("order.cancelled")) {
                throw new PermanentFailureException("unknown order");
            }
            if (!routed.get()) {
                throw new PermanentFailureException(
                        "no route to warehouse " + delivery.message().payload().asText());
            }
        };
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(warehouse))
                .build();
        postrider.migrate();
        postrider.inTransaction(work -> {
            for (int number = 1; number <= 3; number++) {
                work.stage(Message.to("orders")
                        .type("order.placed")
                        .text("" + number)
                        .build());
            }
            work.stage(Message.to("orders").type("order.cancelled").text("4").build());
        });
        postrider.deliverDue(); // in this thread; a service calls start() once instead

        Admin admin = postrider.admin();
        for (FailureGroup group : admin.failures(Filter.dead(), 10).groups()) {
            String error = String.valueOf(group.error()).replaceAll("\\d+", "#");
            say.accept(group.count() + " × " + group.topic() + " " + group.type() + ": " + error);
        }
        Filter noRoute = Filter.dead().topic("orders").errorContains("no route");
        ChangeResult counted = admin.apply(Action.REPLAY, noRoute, Change.dryRun());
        say.accept("would change " + counted.changed() + ", for example "
                + counted.sample().get(0).type());

        routed.set(true);
        Change change = Change.by("ann").reason("route restored").limit(1000);
        ChangeResult result = admin.apply(Action.REPLAY, noRoute, change);
        say.accept("replayed " + result.changed() + ", skipped " + result.skipped());
        postrider.deliverDue();

        int delivered =
                admin.messages(Filter.delivered(), Paging.newest(50)).messages().size();
        int dead = admin.messages(Filter.dead(), Paging.newest(50)).messages().size();
        say.accept("delivered " + delivered + ", dead " + dead);
        AuditEntry entry = admin.audit(Long.MAX_VALUE, 10).get(0);
        say.accept(entry.operator() + " " + entry.action() + " " + entry.changed() + ": " + entry.reason());
    }
}
