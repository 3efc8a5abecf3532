package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import java.io.IOException;
import java.sql.SQLException;

/** Handles one received message, and stops for ever at the boundary that it is told. */
final class ConsumerProgram {

    private ConsumerProgram() {}

    public static void main(String[] arguments) throws IOException {
        int stopAt = Integer.parseInt(arguments[4]);
        Boundaries boundaries = new Boundaries(Orders.pool(Orders.database(arguments)), stopAt);
        Postrider postrider = Orders.configured(boundaries, topic -> {}).build();
        new Thread(() -> process(postrider)).start();
        Parent.obey(command -> {});
    }

    private static void process(Postrider postrider) {
        try {
            Parent.tell("answered", Payments.process(postrider).isProcessed());
        } catch (SQLException | RuntimeException e) {
            Parent.tell("failed", e);
        }
    }
}
