package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.HeldKey;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.util.function.Consumer;

/** One key in sequence, different keys side by side; and a key that waits for an operator. */
public final class OrderPerKey {

    private OrderPerKey() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        DeliveryHandler ledger = delivery -> {
            Message message = delivery.message();
            if (message.type().equals("opened") && "account-2".equals(message.key())) {
                throw new PermanentFailureException("unknown account");
            }
            say.accept(message.key() + " " + message.type());
        };
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("accounts", topic -> topic.ordered().deliver(ledger).maxInFlight(1))
                .build();
        postrider.migrate();

        for (String type : new String[] {"opened", "credited", "closed"}) {
            postrider.inTransaction(work -> {
                work.stage(message("account-1", type));
                work.stage(message("account-2", type));
            });
        }
        postrider.deliverDue();

        HeldKey held = postrider.admin().heldKeys("accounts", 10).get(0);
        say.accept(
                held.key() + " is held by its first message (" + held.reason() + "), " + held.behind() + " behind it");

        postrider.admin().skip(TopicName.of("accounts"), null, "account-2", "ann");
        postrider.deliverDue();
    }

    private static Message message(String account, String type) {
        return Message.to("accounts").type(type).key(account).json("{}").build();
    }
}
