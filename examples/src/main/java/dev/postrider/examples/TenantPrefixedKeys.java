package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import java.util.function.Consumer;

/** A topic that accepts only idempotency keys that begin with their tenant. */
public final class TenantPrefixedKeys {

    private TenantPrefixedKeys() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("usage", topic -> topic.tenantPrefixedKeys())
                .build();
        postrider.migrate();

        for (String key : new String[] {"acme/turn-1", "globex/turn-1", "turn-1"}) {
            Message message = Message.to("usage")
                    .type("turn.metered")
                    .tenant("acme")
                    .idempotencyKey(key)
                    .json("{\"tokens\": 12}")
                    .build();
            try {
                postrider.inTransaction(work -> work.stage(message));
                say.accept(key + ": written");
            } catch (InvalidMessageException e) {
                say.accept(key + ": refused, " + e.getMessage());
            }
        }
    }
}
