package dev.postrider.benchmarks.contender;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** A few threads, each with its own connection and loop, until stopped. */
final class HandLoops {

    private static final long IDLE_NANOS = 2_000_000;

    /** The class of SQLState that means: run the transaction again. */
    private static final String CONFLICT = "40";

    /** One turn of a loop, in a transaction that it commits. It can be repeated when the transaction was rolled back. */
    @FunctionalInterface
    interface Turn {
        /** @return whether there was work */
        boolean take(Connection connection) throws SQLException;
    }

    /** Creates the turn of each loop. */
    @FunctionalInterface
    interface Turns {
        Turn of(int loop, int loops);
    }

    private final DataSource dataSource;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopping;

    HandLoops(DataSource dataSource, int count, Turns turns) {
        this.dataSource = dataSource;
        for (int i = 0; i < count; i++) {
            Turn turn = turns.of(i, count);
            Thread thread = new Thread(() -> loop(turn), "by-hand-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    private void loop(Turn turn) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            // One more turn after the stop: the last delivered batch is still to be deleted.
            boolean busy = true;
            while (busy || !stopping) {
                busy = taken(turn, connection);
                if (!busy) {
                    LockSupport.parkNanos(IDLE_NANOS);
                }
            }
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            throw new IllegalStateException("A loop written by hand failed", e);
        }
    }

    /** A deadlock or another conflict rolls the turn back, and the loop takes it again. */
    private static boolean taken(Turn turn, Connection connection) throws SQLException {
        try {
            return turn.take(connection);
        } catch (SQLException e) {
            String state = e.getSQLState();
            if (state == null || !state.startsWith(CONFLICT)) {
                throw e;
            }
            connection.rollback();
            return true;
        }
    }

    void stop() {
        stopping = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
