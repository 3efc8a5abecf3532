package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.error.UnusableConnectionException;
import java.sql.Connection;
import java.util.function.Consumer;

/** Plain JDBC: the message is written at once on a connection of the application, and commits or rolls back with its transaction. */
public final class OutboxInATransaction {

    private OutboxInATransaction() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();

        try (Connection connection = shop.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            shop.insert(connection, new Order(1));
            postrider.outbox(connection).enqueue(new Order(1).placed());
            connection.commit();
        }
        say.accept("committed: " + shop.countOrders() + " order, " + waiting(postrider) + " message");

        try (Connection connection = shop.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            shop.insert(connection, new Order(2));
            postrider.outbox(connection).enqueue(new Order(2).placed());
            connection.rollback();
        }
        say.accept("rolled back: still " + shop.countOrders() + " order, " + waiting(postrider) + " message");

        try (Connection connection = shop.dataSource().getConnection()) {
            postrider.outbox(connection).enqueue(new Order(3).placed());
        } catch (UnusableConnectionException e) {
            say.accept("no transaction: " + e.problem() + ", nothing is written");
        }
    }

    private static long waiting(Postrider postrider) {
        return postrider.admin().status().get(0).waiting();
    }
}
