package dev.postrider.benchmarks.soak;

import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** A queue under load. Thread-safe. */
interface Subject extends AutoCloseable {

    String name();

    /** The table that it looks for messages in. */
    String table();

    /** Where it keeps what is delivered for its five minutes, if that is another one. */
    Optional<String> history();

    void start();

    /** Writes so many messages in one transaction. */
    void enqueue(int count) throws SQLException;

    long delivered();

    /** How long the statements took that look for messages, in microseconds, since the last call. */
    List<Long> looks();

    @Override
    void close();
}
