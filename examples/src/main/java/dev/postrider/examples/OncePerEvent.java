package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.message.DeterministicKey;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import java.util.UUID;
import java.util.function.Consumer;

/** An idempotency key computed from the event: however often the code runs, the message is written once. */
public final class OncePerEvent {

    private OncePerEvent() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("workflow").build();
        postrider.migrate();

        Enqueued first = publish(postrider, "acme", "invoice-flow", 3);
        Enqueued again = publish(postrider, "acme", "invoice-flow", 3);
        Enqueued later = publish(postrider, "acme", "invoice-flow", 4);

        for (Enqueued enqueued : new Enqueued[] {first, again, later}) {
            say.accept(enqueued.isDuplicate() ? "already written" : "written");
        }
        say.accept("the duplicate names the first message: " + again.id().equals(first.id()));
    }

    private static Enqueued publish(Postrider postrider, String tenant, String definition, int version) {
        UUID key = DeterministicKey.of(tenant, "definition", definition, "published", version);
        Message message = Message.to("workflow")
                .type("definition.published")
                .tenant(tenant)
                .idempotencyKey(key)
                .text(definition + " " + version)
                .build();
        return postrider.callInTransaction(work -> work.outbox().enqueue(message));
    }
}
