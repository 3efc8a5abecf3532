package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.OutcomeProbe.Finding;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * A charge at an external payment provider that is made at most once. After a timeout, the charge is not repeated. After a refused
 * connection, the next caller may repeat it. A probe asks the provider whether an uncertain charge happened.
 */
public final class ChargedOnce {

    private ChargedOnce() {}

    /** The payment provider. It identifies a charge by the idempotency key of the request. */
    private static final class Provider {

        private enum Mood {
            DOWN,
            SLOW,
            UP
        }

        private final Map<UUID, String> charges = new HashMap<>();
        private Mood mood = Mood.UP;

        String charge(UUID idempotencyKey) throws IOException {
            if (mood == Mood.DOWN) {
                throw new ConnectException("refused");
            }
            String receipt = charges.computeIfAbsent(idempotencyKey, key -> "charged");
            if (mood == Mood.SLOW) {
                throw new SocketTimeoutException("no answer");
            }
            return receipt;
        }

        Optional<String> find(UUID idempotencyKey) throws IOException {
            if (mood != Mood.UP) {
                throw new SocketTimeoutException("no answer");
            }
            return Optional.ofNullable(charges.get(idempotencyKey));
        }
    }

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();

        Provider provider = new Provider();
        provider.mood = Provider.Mood.DOWN;
        say.accept(charge(postrider, command("key-1"), provider));
        provider.mood = Provider.Mood.UP;
        say.accept(charge(postrider, command("key-1"), provider));
        provider.mood = Provider.Mood.SLOW;
        say.accept(charge(postrider, command("key-2"), provider));
        say.accept(charge(postrider, command("key-2"), provider));
        say.accept(charge(postrider, probed(command("key-2"), provider), provider));
        provider.mood = Provider.Mood.UP;
        say.accept(charge(postrider, probed(command("key-2"), provider), provider) + ", as the probe found");
        say.accept(provider.charges.size() + " charges");
    }

    private static Command<String> command(String key) {
        return Command.named("payments.charge")
                .caller("ada")
                .key(key)
                .fingerprint("{}")
                .returningText();
    }

    private static Command<String> probed(Command<String> command, Provider provider) {
        return command.probedBy(question -> {
            try {
                return provider.find(question.downstreamKey("charge")) // the key that the work sent
                        .map(receipt -> Finding.happened(receipt)) // the result, now and for every retry
                        .orElseGet(() -> Finding.didNotHappen()); // this caller runs the work, with the same key
            } catch (IOException e) {
                return Finding.unknown(); // the command stays uncertain, and the next caller probes again
            }
        });
    }

    private static String charge(Postrider postrider, Command<String> command, Provider provider) {
        try {
            CommandResult<String> result = postrider.commands().lease(command, lease -> {
                lease.externalEffectStarted(); // from here on, a failure makes the command uncertain
                try {
                    return provider.charge(lease.downstreamKey("charge"));
                } catch (ConnectException e) {
                    lease.externalEffectDidNotHappen(); // not connected, so no effect: a retry may run it
                    throw e;
                }
            });
            return result instanceof CommandResult.Uncertain<String>
                    ? "outcome unknown: not repeated"
                    : String.valueOf(result.orElseThrow());
        } catch (IOException e) {
            return "failed: " + e.getMessage();
        }
    }
}
