package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Somebody takes every connection that the server has left. */
final class ExhaustConnections implements Fault {

    /** More than any server of these runs has. */
    private static final int MOST = 400;

    private final Database database;
    private final List<Connection> taken = new ArrayList<>();

    ExhaustConnections(Database database) {
        this.database = database;
    }

    @Override
    public String target() {
        return "all";
    }

    @Override
    public boolean begin() {
        try {
            while (taken.size() < MOST) {
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
