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

/** Postrider's idempotent commands, fenced: the key is claimed, then order and result are written in one transaction. */
public final class FencedCommands extends Effects {

    private final DataSource dataSource;
    private final Postrider postrider;
    private final Commands commands;

    /** What is remembered in memory is of another phase. */
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

    /** As another process, which has run none of them and remembers nothing, answers the same commands. */
    public Replays replays() {
        return new Replays(postrider(dataSource), phase.get());
    }

    /** Answers commands that are done. */
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
