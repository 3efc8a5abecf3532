package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.util.UUID;
import java.util.function.Consumer;

/** A charge at another company is made at most once: after a timeout nobody repeats it, after a refused connection anybody may. */
public final class ChargedOnce {

    private ChargedOnce() {}

    /** The other company. */
    @FunctionalInterface
    private interface Provider {
        String charge(UUID idempotencyKey) throws IOException;
    }

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();

        Provider down = key -> {
            throw new ConnectException("refused");
        };
        Provider slow = key -> {
            throw new SocketTimeoutException("no answer");
        };
        Provider up = key -> "charged";
        say.accept(charge(postrider, "key-1", down));
        say.accept(charge(postrider, "key-1", up));
        say.accept(charge(postrider, "key-2", slow));
        say.accept(charge(postrider, "key-2", up));
    }

    private static String charge(Postrider postrider, String key, Provider provider) {
        Command<String> command = Command.named("payments.charge")
                .caller("ada")
                .key(key)
                .fingerprint("{}")
                .returningText();
        try {
            CommandResult<String> result = postrider.commands().lease(command, lease -> {
                lease.externalEffectStarted(); // from here on, a failure leaves the outcome unknown
                try {
                    return provider.charge(lease.downstreamKey("charge"));
                } catch (ConnectException e) {
                    lease.externalEffectDidNotHappen(); // nobody heard us: a retry may run it
                    throw e;
                }
            });
            return result instanceof CommandResult.Uncertain<String>
                    ? "nobody knows: not repeated"
                    : String.valueOf(result.orElseThrow());
        } catch (IOException e) {
            return "failed: " + e.getMessage();
        }
    }
}
