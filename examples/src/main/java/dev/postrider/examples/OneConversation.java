package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.message.Message;
import java.util.function.Consumer;

/**
 * A request leads to a command, a message, a handler and another message. Each takes effect once, and all have the same correlation id.
 */
public final class OneConversation {

    private OneConversation() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.toInbox("billing"))
                .inbox(
                        "billing",
                        inbox -> inbox.handler(
                                "create-invoice",
                                "order.placed",
                                (placed, work) -> work.stage(Message.to("invoices")
                                        .type("invoice.created")
                                        .json(placed.payload().asText())
                                        .build())))
                .topic(
                        "invoices",
                        topic -> topic.deliver(delivery -> {
                            Message invoice = delivery.message();
                            say.accept(invoice.type() + " " + invoice.payload().asText() + " in conversation "
                                    + invoice.correlationId());
                        }))
                .build();
        postrider.migrate();

        CommandResult<String> first = place(postrider, shop, "key-of-the-request");
        CommandResult<String> again = place(postrider, shop, "key-of-the-request");
        say.accept("answer " + first.orElseThrow() + ", and again " + again.orElseThrow());

        postrider.deliverDue(); // the order goes to the inbox, the handler's invoice to its topic
        say.accept("orders: " + shop.countOrders());
        postrider.close();
    }

    /** The correlation id comes from the request. By default it is the reference of the command. */
    private static CommandResult<String> place(Postrider postrider, Shop shop, String key) throws Exception {
        Order order = new Order(42);
        Command<String> command = Command.named("orders.place")
                .caller("ada")
                .key(key)
                .fingerprint("order 42")
                .returningText();
        return postrider.commands().run(command, transaction -> {
            shop.insert(transaction.connection(), order);
            transaction.stage(Message.to("orders")
                    .type("order.placed")
                    .correlationId("request-7")
                    .json("{\"order\": 42}")
                    .build());
            return "placed 42";
        });
    }
}
