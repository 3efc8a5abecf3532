package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.store.Accepted;
import dev.postrider.transport.PermanentFailureException;
import java.util.List;
import java.util.function.Consumer;

/** Store now, handle later: each handler of a message has its own fate, and takes effect once however often the message comes. */
public final class DurableInbox {

    private DurableInbox() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        MessageHandler invoice = (message, work) -> {
            shop.insert(work.connection(), new Order(number(message)));
            work.stage(Message.to("invoices").type("invoice.created").json("{}").build());
        };
        MessageHandler credit = (message, work) -> {
            say.accept("no credit for order " + number(message));
            throw new PermanentFailureException("no credit");
        };
        Postrider postrider = Postrider.on(shop.dataSource())
                .inbox(
                        "billing",
                        inbox -> inbox.handler("create-invoice", "order.placed", invoice)
                                .handler("reserve-credit", "order.placed", credit))
                .topic("invoices")
                .build();
        postrider.migrate();
        Message received = Message.received("checkout", "checkout-7")
                .type("order.placed")
                .json("{\"order\": 7}")
                .build();

        Accepted first = postrider.inbox("billing").receive(List.of(received)); // stored: the broker may be told now
        Accepted second = postrider.inbox("billing").receive(List.of(received));
        say.accept("new: " + first.fresh().size() + ", then: " + second.fresh().size());

        postrider.deliverDue(); // in this thread; a service calls start() once instead
        say.accept("invoices: " + shop.countOrders());
        say.accept("dead: "
                + postrider
                        .admin()
                        .deadLetters("inbox/billing.reserve-credit", 10)
                        .size());
    }

    private static int number(Message message) {
        return Integer.parseInt(message.payload().asText().replaceAll("\\D", ""));
    }
}
