package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Arena;
import java.sql.SQLException;
import java.util.List;

/** Systems that make an effect happen once: {@link #transact} writes an order unless it was written before. They deliver nothing. */
abstract class Effects implements Contender {

    private final String name;
    private final Arena arena;
    private final List<String> tables;

    Effects(String name, Arena arena, List<String> tables) {
        this.name = name;
        this.arena = arena;
        this.tables = tables;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void clear() {
        arena.empty(tables);
    }

    /** The number of orders, which must equal the number of effects. */
    @Override
    public long unfinished() {
        return arena.count("bench_order");
    }

    @Override
    public void fill(int messages) throws SQLException {
        throw new UnsupportedOperationException("It has no backlog");
    }

    @Override
    public void start(Receiver receiver) {
        throw new UnsupportedOperationException("It delivers nothing");
    }

    @Override
    public void stop() {}
}
