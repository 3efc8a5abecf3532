package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.inbox.Accepted;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;

/** A consumer that handles each message once. It receives every message twice, as after a lost acknowledgement to a broker. */
public final class EveryMessageTwice {

    private EveryMessageTwice() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();
        Inbox inbox = postrider.inbox("billing");

        for (int number : new int[] {1, 2, 1, 2}) {
            Order order = new Order(number);
            Message received = received(order);
            ProcessResult result = inbox.process(received, work -> {
                shop.insert(work.connection(), order);
                work.stage(order.placed());
            });
            say.accept("order " + number + ": " + (result.isProcessed() ? "handled" : "had it before"));
        }
        Message forged = Message.received("checkout", "checkout-1")
                .type("order.placed")
                .json("{\"order\": 666}")
                .build();
        say.accept("another payload: " + (inbox.process(forged, work -> {}).isCollision() ? "set aside" : "handled"));

        batch(shop, inbox, say);
        say.accept(shop.countOrders() + " orders, "
                + postrider.admin().status().get(0).waiting() + " messages");
    }

    private static void batch(Shop shop, Inbox inbox, Consumer<String> say) throws SQLException {
        List<Message> batch = List.of(received(new Order(2)), received(new Order(3)), received(new Order(3)));
        try (Connection connection = shop.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            Accepted accepted = inbox.accept(connection, batch);
            for (Message message : accepted.fresh()) {
                shop.insert(connection, orderIn(message));
            }
            connection.commit();
            say.accept("of a batch: " + accepted.fresh().size() + " new, "
                    + accepted.duplicates().size() + " dropped");
        }
    }

    private static Order orderIn(Message message) {
        return new Order(Integer.parseInt(message.payload().asText().replaceAll("\\D", "")));
    }

    /** The message as a broker delivers it: with the id of the sender, which is the same each time. */
    private static Message received(Order order) {
        return Message.received("checkout", "checkout-" + order.id())
                .type("order.placed")
                .json(order.toJson())
                .build();
    }
}
