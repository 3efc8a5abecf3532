package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.function.Consumer;

/** Claims and outcomes without the dispatcher, for those who have a loop of their own. */
public final class LoopOfOnesOwn {

    private LoopOfOnesOwn() {}

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

        // This worker takes one message and is not heard of again before its lease is over.
        ClaimRequest hasty = ClaimRequest.of("orders", "hasty").limit(1).lease(Duration.ofMillis(1));
        Claim forgotten = store.claim(hasty).get(0);

        ClaimRequest steady = ClaimRequest.of("orders", "steady");
        int done = 0;
        while (done < 2) {
            for (Claim claim : store.claim(steady)) {
                String what = claim.message().payload().asText();
                say.accept(what + ", attempt " + claim.attempt() + ", crashes " + claim.crashes());
                done += store.acknowledge(claim).isLost() ? 0 : 1;
            }
        }

        Settlement late = store.acknowledge(forgotten);
        say.accept(late.isLost() ? "the hasty worker has lost its lease" : "acknowledged");
    }
}
