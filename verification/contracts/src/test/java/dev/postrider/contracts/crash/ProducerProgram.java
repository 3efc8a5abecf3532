package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;

/** Places orders as fast as it can, in several threads, and keeps a journal of them outside the database: with the test. */
final class ProducerProgram {

    private static final int THREADS = 3;

    private ProducerProgram() {}

    public static void main(String[] arguments) throws IOException {
        Postrider postrider = Orders.configured(Orders.pool(Orders.database(arguments)), topic -> {})
                .build();
        Parent.tell("ready");
        Parent.obey(command -> {
            for (int thread = 0; thread < THREADS; thread++) {
                String prefix = arguments[4] + "-" + thread + "-";
                new Thread(() -> produce(postrider, prefix)).start();
            }
        });
    }

    private static void produce(Postrider postrider, String prefix) {
        for (int number = 0; ; number++) {
            String order = prefix + number;
            Parent.tell("intends", order);
            try {
                Orders.place(postrider, List.of(order), () -> Parent.tell("commits", order));
            } catch (SQLException | RuntimeException e) {
                Parent.tell("failed", order, e);
                return;
            }
            Parent.tell("committed", order);
        }
    }
}
