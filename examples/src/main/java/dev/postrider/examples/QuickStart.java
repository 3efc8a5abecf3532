package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** An order and its message, committed together and delivered a moment later. */
public final class QuickStart {

    private QuickStart() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        DataSource dataSource = shop.dataSource();
        Order order = new Order(42);
        String json = order.toJson();

        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        Postrider postrider = Postrider.on(dataSource)
                .topic("orders", topic -> topic.deliver(received::add))
                .build();
        postrider.migrate();
        postrider.start();

        postrider.inTransaction(work -> {
            shop.insert(work.connection(), order);
            work.stage(Message.to("orders").type("order.placed").json(json).build());
        });
        say.accept("received " + received.take().message().payload().asText());
        postrider.close();
    }
}
