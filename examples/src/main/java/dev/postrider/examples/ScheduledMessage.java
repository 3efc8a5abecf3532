package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.TopicStatus;
import dev.postrider.message.Message;
import dev.postrider.transport.DeliveryHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;

/** A message that is written now and delivered later, by the clock of the database. */
public final class ScheduledMessage {

    private ScheduledMessage() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        DeliveryHandler reminder = delivery -> say.accept(delivery.message().type());
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("reminders", topic -> topic.deliver(reminder))
                .build();
        postrider.migrate();

        Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
        postrider.inTransaction(work -> {
            work.stage(message("pay-today").build());
            work.stage(message("pay-tomorrow").deliverAt(tomorrow).build());
        });
        postrider.deliverDue();

        TopicStatus status = postrider.admin().status().get(0);
        say.accept("waiting " + status.waiting() + ", scheduled " + status.scheduled());
    }

    private static Message.Builder message(String type) {
        return Message.to("reminders").type(type).text("for order 42");
    }
}
