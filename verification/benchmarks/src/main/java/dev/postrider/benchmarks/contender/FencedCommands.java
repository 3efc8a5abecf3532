package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.Commands;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Postrider's idempotent commands, fenced: claims the key, then writes order and result in one transaction. */
public final class FencedCommands extends Effects {

    private final DataSource dataSource;
    private final Postrider postrider;
    private final Commands commands;

    /** Part of each key, so that results in memory from another phase do not match. */
    private final AtomicInteger phase = new AtomicInteger();

    public FencedCommands(Arena arena, DataSource dataSource) {
        super("command", arena, List.of("postrider_command"));
        this.dataSource = dataSource;
        postrider = postrider(dataSource);
        commands = postrider.commands();
    }

    private static Postrider postrider(DataSource dataSource) {
        return Postrider.on(dataSource).topic("orders").build();
    }

    @Override
    public void prepare() {
        postrider.migrate();
    }

    @Override
    public void clear() {
        super.clear();
        phase.incrementAndGet();
    }

    @Override
    public void transact(Order order) throws SQLException {
        run(commands, order, phase.get(), false);
    }

    private static void run(Commands commands, Order order, int phase, boolean replayed) throws SQLException {
        CommandResult<String> result = commands.run(
                Command.named("orders.place")
                        .anyCaller()
                        .key("order-" + phase + "-" + order.number())
                        .fingerprint(order.json())
                        .returningText(),
                transaction -> {
                    order.insert(transaction.connection());
                    return order.json();
                });
        if (!result.isCompleted() || result.isReplayed() != replayed) {
            throw new IllegalStateException("expected a result, replayed: " + replayed + ", but got " + result);
        }
    }

    /** Runs the same commands as another process would, which has no results in memory. */
    public Replays replays() {
        return new Replays(postrider(dataSource), phase.get());
    }

    /** Replays completed commands. */
    public static final class Replays implements AutoCloseable {

        private final Postrider other;
        private final int phase;

        private Replays(Postrider other, int phase) {
            this.other = other;
            this.phase = phase;
        }

        public void replay(Order order) throws SQLException {
            run(other.commands(), order, phase, true);
        }

        @Override
        public void close() {
            other.close();
        }
    }

    @Override
    public void close() {
        postrider.close();
    }
}
