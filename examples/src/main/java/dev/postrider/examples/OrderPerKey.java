package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.admin.BlockedKey;
import dev.postrider.message.Message;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.util.function.Consumer;

/** Messages of one key in sequence, different keys in parallel, and a blocked key that waits for an operator. */
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

        BlockedKey key = postrider.admin().blockedKeys("accounts", 10).get(0);
        say.accept(key.key() + " is blocked by its head (" + key.reason() + "), " + key.behind() + " behind it");

        postrider.admin().bury("accounts", key.tenant(), key.key(), key.head(), "ann");
        postrider.deliverDue();
    }

    private static Message message(String account, String type) {
        return Message.to("accounts").type(type).key(account).json("{}").build();
    }
}
