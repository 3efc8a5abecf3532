package dev.postrider.benchmarks.soak;

import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** A queue under load. Thread-safe. */
interface Subject extends AutoCloseable {

    String name();

    /** The table that its scans read. */
    String table();

    /** The table with delivered messages of the last five minutes, if it is another one. */
    Optional<String> history();

    void start();

    /** Writes this many messages in one transaction. */
    void enqueue(int count) throws SQLException;

    long delivered();

    /** The durations of scans since the last call, in microseconds. */
    List<Long> looks();

    @Override
    void close();
}
