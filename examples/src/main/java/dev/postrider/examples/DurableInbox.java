package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.StoredMessage;
import dev.postrider.inbox.Accepted;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.DeterministicKey;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.transport.PermanentFailureException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A durable inbox stores a message first and handles it later. Each handler has its own outcome, and takes effect once, however often
 * the message arrives.
 */
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
                                .handler(
                                        "reserve-credit",
                                        Set.of("order.placed", "order.changed"),
                                        credit,
                                        topic -> topic.maxAttempts(3)))
                .topic("invoices")
                .build();
        postrider.migrate();
        Message received = Message.received("checkout", "checkout-7")
                .type("order.placed")
                .json("{\"order\": 7}")
                .build();

        Accepted first = postrider.inbox("billing").receive(List.of(received)); // stored: acknowledge to the broker
        Accepted second = postrider.inbox("billing").receive(List.of(received));
        say.accept("new: " + first.fresh().size() + ", then: " + second.fresh().size());

        postrider.deliverDue(); // in this thread; a service calls start() once instead
        say.accept("invoices: " + shop.countOrders());
        for (StoredMessage dead : postrider.admin().deadLetters("inbox/billing.reserve-credit", 100)) {
            boolean isTheOne = MessageId.named("checkout-7").equals(dead.receivedId());
            say.accept("dead: " + (isTheOne ? "checkout-7" : dead.receivedId()) + ", " + dead.reason());
        }

        UUID row = DeterministicKey.of(
                received.tenant(),
                "inbox",
                "inbox/billing.reserve-credit",
                received.id().toString(),
                1);
        say.accept("found: " + postrider.admin().find(new MessageId(row)).isPresent());
    }

    private static int number(Message message) {
        return Integer.parseInt(message.payload().asText().replaceAll("\\D", ""));
    }
}
