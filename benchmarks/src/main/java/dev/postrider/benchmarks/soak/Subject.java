package dev.postrider.benchmarks.soak;

import java.sql.SQLException;
import java.util.List;

/** A queue under load. Thread-safe. */
interface Subject extends AutoCloseable {

    String name();

    /** The tables it lives in, whose size is watched. */
    List<String> tables();

    void start();

    /** Writes so many messages in one transaction. */
    void enqueue(int count) throws SQLException;

    long delivered();

    /** How long the statements took that look for messages, in microseconds, since the last call. */
    List<Long> looks();

    @Override
    void close();
}
