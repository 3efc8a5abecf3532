package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.transport.DeliveryHandler;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;

/** Offers that are not sent after their time, and an offer that is withdrawn before it is sent. */
public final class WithdrawnOffer {

    private WithdrawnOffer() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        DeliveryHandler mail =
                delivery -> say.accept("sent " + delivery.message().type());
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("offers", topic -> topic.deliver(mail))
                .build();
        postrider.migrate();

        Instant midnight = Instant.now().minus(Duration.ofHours(1));
        postrider.inTransaction(work -> {
            work.stage(offer("today-only").expiresAt(midnight).build());
            work.stage(offer("all-year").build());
            work.stage(offer("mistake").idempotencyKey("offer-3").build());
        });

        Cancellation withdrawn =
                postrider.callInTransaction(work -> work.outbox().cancel(TopicName.of("offers"), null, "offer-3"));
        say.accept("withdrawn: " + withdrawn);
        postrider.deliverDue();

        postrider
                .admin()
                .deadLetters("offers", 10)
                .forEach(dead -> say.accept(dead.message().type() + ": " + dead.reason()));
    }

    private static Message.Builder offer(String type) {
        return Message.to("offers").type(type).text("ten per cent off");
    }
}
