package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Somebody takes every connection that the server has left. */
final class ExhaustConnections implements Fault {

    /** More than any server of these runs has. */
    private static final int MOST = 400;

    private final Database database;
    private final Duration length;
    private final List<Connection> taken = new ArrayList<>();

    /** @param length after which it stops to take more, on a machine so busy that it has not got them all by then */
    ExhaustConnections(Database database, Duration length) {
        this.database = database;
        this.length = length;
    }

    @Override
    public String target() {
        return "all";
    }

    @Override
    public boolean begin() {
        long start = System.nanoTime();
        try {
            while (taken.size() < MOST && System.nanoTime() - start < length.toNanos()) {
                taken.add(database.dataSource().getConnection());
            }
        } catch (SQLException e) {
            // there are no more, which was the aim
        }
        return !taken.isEmpty();
    }

    @Override
    public void end() throws SQLException {
        SQLException failure = new SQLException("Some connections could not be closed");
        for (Connection connection : taken) {
            try {
                connection.close();
            } catch (SQLException e) {
                failure.addSuppressed(e);
            }
        }
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}
