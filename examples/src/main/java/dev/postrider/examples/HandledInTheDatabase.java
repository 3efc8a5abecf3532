package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.retry.RetryPolicy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A handler whose effect is in the same database: its writes and the removal of the message commit together. */
public final class HandledInTheDatabase {

    private HandledInTheDatabase() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws SQLException {
        AtomicBoolean inStock = new AtomicBoolean();
        MessageHandler place = (message, work) -> {
            shop.insert(work.connection(), new Order(7));
            work.stage(new Order(7).placed()); // another message, in the same transaction
            if (!inStock.getAndSet(true)) {
                throw new IllegalStateException("out of stock"); // rolls both back, and the message is tried again
            }
        };
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("imports", topic -> topic.process(place).retry(RetryPolicy.constant(Duration.ZERO)))
                .topic("orders")
                .build();
        postrider.migrate();
        postrider.inTransaction(work -> work.stage(
                Message.to("imports").type("order.imported").text("7").build()));

        say.accept("attempts: " + postrider.deliverDue()); // in this thread; a service calls start() once instead
        say.accept("orders: " + shop.countOrders());
    }
}
