package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Opens all connections that the server allows. */
final class ExhaustConnections implements Fault {

    /** More than any server of these runs allows. */
    private static final int MOST = 400;

    private final Database database;
    private final Duration length;
    private final List<Connection> taken = new ArrayList<>();

    /** @param length the time after which no more connections are opened, for a busy computer that has not reached the limit by then */
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
            // the server refuses more connections, as intended
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
