package dev.postrider.contracts.crash;

import dev.postrider.internal.store.OperationStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.store.TableOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;

/** Makes one step of a background operation, and stops for ever at the boundary that it is told. */
final class OperationProgram {

    /** How long no other node makes the step. */
    static final Duration LEASE = Duration.ofSeconds(30);

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private OperationProgram() {}

    public static void main(String[] arguments) throws IOException {
        DataSource pool = Orders.pool(Orders.database(arguments));
        OperationStore operations = JdbcDatabase.open(
                        new Boundaries(pool, Integer.parseInt(arguments[4])),
                        TableOptions.defaults(),
                        TIMEOUT,
                        event -> {})
                .operations(() -> {});
        new Thread(() -> {
                    try {
                        OperationStore.OperationStep step = operations.step("child", LEASE);
                        Parent.tell(
                                "answered",
                                Objects.requireNonNull(step.operation()).state());
                    } catch (RuntimeException e) {
                        Parent.tell("failed", e);
                    }
                })
                .start();
        Parent.obey(command -> {});
    }
}
