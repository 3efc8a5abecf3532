package dev.postrider.examples;

import dev.postrider.Postrider;
import java.util.List;
import java.util.function.Consumer;

/** A unit of work collects messages and writes them in one statement, just before its commit. */
public final class StagedUnitOfWork {

    private StagedUnitOfWork() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();

        Order first = new Order(1);
        postrider.inTransaction(work -> {
            shop.insert(work.connection(), first);
            work.stage(first.placed());
            work.stage(List.of(first.placed(), first.placed()));
        });
        say.accept("committed: " + shop.countOrders() + " order, " + waiting(postrider) + " messages");

        Order second = new Order(2);
        try {
            postrider.inTransaction(work -> {
                shop.insert(work.connection(), second);
                work.stage(second.placed());
                throw new IllegalStateException("the card was declined");
            });
        } catch (IllegalStateException e) {
            String left = shop.countOrders() + " order, " + waiting(postrider) + " messages";
            say.accept(e.getMessage() + ": still " + left);
        }

        Order third = new Order(3);
        int id = postrider.callInTransaction(work -> {
            shop.insert(work.connection(), third);
            work.stage(third.placed());
            return third.id();
        });
        say.accept("answered " + id);
    }

    private static long waiting(Postrider postrider) {
        return postrider.admin().status().get(0).waiting();
    }
}
