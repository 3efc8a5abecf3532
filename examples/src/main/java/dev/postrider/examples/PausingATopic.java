package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.util.function.Consumer;

/** A paused topic still accepts messages, but no node delivers them. Other topics are not affected. */
public final class PausingATopic {

    private static final TopicName ORDERS = TopicName.of("orders");

    private PausingATopic() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(delivery -> say.accept("an order")))
                .topic("audit", topic -> topic.deliver(delivery -> say.accept("an audit entry")))
                .build();
        postrider.migrate();

        postrider.admin().pause(ORDERS, "the example");
        postrider.inTransaction(work -> {
            work.stage(new Order(42).placed());
            work.stage(Message.to("audit").type("seen").text("order 42").build());
        });
        say.accept("while paused: " + postrider.deliverDue());

        postrider.admin().resume(ORDERS, "the example");
        say.accept("after resuming: " + postrider.deliverDue());
    }
}
