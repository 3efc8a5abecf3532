package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A database session outside the processes: repeatedly locks a row that handlers update, for longer than a lease. Thread-safe. */
final class LockHolder implements AutoCloseable {

    private final Database database;
    private final long holdMillis;
    private final Thread thread;
    private volatile boolean closed;

    LockHolder(Database database, Duration lease) {
        this.database = database;
        this.holdMillis = lease.toMillis() * 13 / 10;
        this.thread = Parent.daemon("lock-holder", this::work);
    }

    private void work() {
        try {
            while (!closed) {
                hold();
                TimeUnit.MILLISECONDS.sleep(holdMillis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void hold() throws InterruptedException {
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement select =
                    connection.prepareStatement("SELECT n FROM torture_counter WHERE name = ? FOR UPDATE")) {
                select.setString(1, Business.CONTESTED);
                select.executeQuery().close();
                TimeUnit.MILLISECONDS.sleep(holdMillis);
            } finally {
                connection.rollback();
            }
        } catch (SQLException e) {
            // The database is down, or another session held the lock for too long.
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt(); // a daemon thread: no join is needed
    }
}
