package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import java.io.IOException;
import java.time.Duration;

/** Claims by a loop of its own, of one round, and delivers nothing. */
final class ClaimerProgram {

    private ClaimerProgram() {}

    public static void main(String[] arguments) throws IOException {
        Postrider postrider = Orders.configured(Orders.pool(Orders.database(arguments)), topic -> {})
                .build();
        ClaimRequest request = ClaimRequest.of(Orders.TOPIC, "claimer").lease(Duration.parse(arguments[4]));
        for (Claim claim : postrider.store().claim(request)) {
            Parent.tell("claimed", Orders.of(claim.message()), claim.attempt());
        }
        Parent.tell("ready");
        Parent.obey(command -> {});
    }
}
