package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.message.Message;
import java.sql.SQLException;
import java.util.function.Consumer;

/** A request that is sent twice takes effect once. Order, message and result commit together, and the retry gets the result. */
public final class RetriedCommand {

    private RetriedCommand() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws SQLException {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();

        say.accept(place(postrider, shop, "key-1", new Order(42)));
        say.accept(place(postrider, shop, "key-1", new Order(42)));
        say.accept(place(postrider, shop, "key-1", new Order(43)));
        say.accept(place(postrider, shop, "key-2", new Order(0)));
        say.accept(place(postrider, shop, "key-2", new Order(0)));
        say.accept(shop.countOrders() + " order");
    }

    private static String place(Postrider postrider, Shop shop, String key, Order order) throws SQLException {
        Command<String> command = Command.named("orders.place")
                .caller("ada") // the authenticated user: each caller has its own keys
                .key(key) // chosen by the client, and sent again with every retry
                .fingerprint(order.toJson()) // the same key for another request is refused
                .returningText();
        CommandResult<String> result = postrider.commands().run(command, tx -> {
            if (order.id() == 0) {
                throw new CommandRejectedException("there is no such order");
            }
            shop.insert(tx.connection(), order);
            tx.stage(Message.to("orders")
                    .type("order.placed")
                    .json(order.toJson())
                    .build());
            return "placed " + order.id();
        });
        return describe(result);
    }

    private static String describe(CommandResult<String> result) {
        if (result instanceof CommandResult.Completed<String> done) {
            return done.value() + (done.replayed() ? ", as before" : "");
        }
        if (result instanceof CommandResult.Rejected<String> no) {
            return no.reason() + (no.replayed() ? ", as before" : "");
        }
        if (result instanceof CommandResult.Mismatch<String>) {
            return "this key was used for another order";
        }
        return "ask again later: " + result; // in progress, uncertain, or the result is not stored any more
    }
}
