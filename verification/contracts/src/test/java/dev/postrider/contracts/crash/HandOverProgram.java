package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.testkit.CommitHooks;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** A node that delivers, and places one order: it stops for ever at its commit, before it or after it as it is told. */
final class HandOverProgram {

    private HandOverProgram() {}

    public static void main(String[] arguments) throws IOException {
        Pace pace =
                new Pace(Duration.parse(arguments[5]), Duration.parse(arguments[6]), Integer.parseInt(arguments[7]));
        DataSource pool = Orders.pool(Orders.database(arguments));
        CommitHooks commits = new CommitHooks(pool);
        Postrider postrider = Orders.configured(
                        commits,
                        topic -> topic.deliver(delivery ->
                                Parent.tell("delivered", Orders.of(delivery.message()), delivery.attempt())))
                .dispatchOn(pool)
                .tables(tables -> tables.commitWithInsert(false)) // the hooks need a commit of its own
                .dispatch(options -> pace.set(options, arguments[4]))
                .build();
        postrider.start();
        Gate gate = new Gate();
        gate.set(false);
        Parent.tell("ready");
        Parent.obey(command -> {
            switch (command) {
                case "before" ->
                    commits.beforeCommit(() -> {
                        Parent.tell("written");
                        gate.pass();
                    });
                case "after" ->
                    commits.afterCommit(() -> {
                        Parent.tell("committed");
                        gate.pass();
                    });
                default -> new Thread(() -> place(postrider, command)).start();
            }
            Parent.tell("did", command);
        });
    }

    private static void place(Postrider postrider, String order) {
        try {
            Orders.place(postrider, List.of(order), () -> {});
        } catch (SQLException | RuntimeException e) {
            Parent.tell("failed", order, e);
        }
    }
}
