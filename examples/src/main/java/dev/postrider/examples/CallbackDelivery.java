package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.Admin;
import dev.postrider.admin.StoredMessage;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Delivery by code of the application. A handler that returns has delivered the message. After an exception the message is retried, and
 * after a permanent failure it is a dead letter.
 */
public final class CallbackDelivery {

    private CallbackDelivery() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        AtomicBoolean busy = new AtomicBoolean(true);
        DeliveryHandler mailer = delivery -> {
            String address = delivery.message().payload().asText();
            if (!address.contains("@")) {
                throw new PermanentFailureException("no such address");
            }
            if (busy.getAndSet(false)) {
                throw new IOException("the mail server is busy");
            }
            say.accept("sent to " + address + " at attempt " + delivery.attempt());
        };
        RetryPolicy atOnce = RetryPolicy.constant(Duration.ZERO);
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("mail", topic -> topic.deliver(mailer).maxAttempts(3).retry(atOnce))
                .build();
        postrider.migrate();

        postrider.inTransaction(work -> {
            work.stage(Message.to("mail").type("welcome").text("ada@example").build());
            work.stage(Message.to("mail").type("welcome").text("nowhere").build());
        });
        postrider.deliverDue(); // in this thread; a service calls start() once instead

        Admin admin = postrider.admin();
        for (StoredMessage dead : admin.deadLetters(TopicName.of("mail"), 0, 100)) {
            say.accept("dead: " + dead.message().payload().asText() + ", " + dead.reason());
            say.accept("replay: " + admin.replay(dead.message().id(), "ada"));
        }
        say.accept("tried again: " + postrider.deliverDue());
        StoredMessage dead = admin.deadLetters(TopicName.of("mail"), 0, 100).get(0);
        say.accept("discard: " + admin.discard(dead.message().id(), "ada"));
    }
}
