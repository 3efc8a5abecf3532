package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.function.Consumer;

/** Claims and outcomes without the dispatcher, for an application with its own loop. */
public final class OwnDeliveryLoop {

    private OwnDeliveryLoop() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();
        postrider.inTransaction(work -> {
            work.stage(new Order(1).placed());
            work.stage(new Order(2).placed());
        });
        MessageStore store = postrider.store();
        ClaimRequest request = ClaimRequest.of("orders", "worker-1").limit(10).lease(Duration.ofMinutes(1));

        // This worker claims one message and does not acknowledge it before its lease ends.
        ClaimRequest hasty = ClaimRequest.of("orders", "hasty").limit(1).lease(Duration.ofMillis(1));
        Claim forgotten = store.claim(hasty).get(0);

        int done = 0;
        while (done < 2) {
            for (Claim claim : store.claim(request)) {
                String what = claim.message().payload().asText();
                say.accept(what + ", attempt " + claim.attempt() + ", crashes " + claim.crashes());
                done += store.acknowledge(claim).isLost() ? 0 : 1;
            }
        }

        Settlement late = store.acknowledge(forgotten);
        say.accept(late.isLost() ? "the hasty worker has lost its lease" : "acknowledged");
    }
}
