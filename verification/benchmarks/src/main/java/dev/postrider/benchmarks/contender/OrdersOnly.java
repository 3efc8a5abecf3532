package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Arena;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** The business transaction alone, without a message: the upper limit of the rate. It delivers nothing. */
public final class OrdersOnly implements Contender {

    private final Arena arena;
    private final DataSource dataSource;

    public OrdersOnly(Arena arena, DataSource dataSource) {
        this.arena = arena;
        this.dataSource = dataSource;
    }

    @Override
    public String name() {
        return "order alone";
    }

    @Override
    public void prepare() {}

    @Override
    public void clear() {
        arena.empty(List.of());
    }

    @Override
    public void transact(Order order) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            order.insert(connection);
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    @Override
    public void fill(int messages) {
        throw new UnsupportedOperationException("It has no messages");
    }

    @Override
    public void start(Receiver receiver) {
        throw new UnsupportedOperationException("It has no messages");
    }

    @Override
    public void stop() {}

    @Override
    public long unfinished() {
        return arena.count("bench_order");
    }

    @Override
    public void close() {}
}
