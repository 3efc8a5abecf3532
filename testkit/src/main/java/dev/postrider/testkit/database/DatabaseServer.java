package dev.postrider.testkit.database;

import javax.sql.DataSource;

/**
 * A running database server. Its port and its data stay the same until it is closed. Thread-safe: {@link #crash()},
 * {@link #restart()} and {@link #close()} run one at a time.
 */
public sealed interface DatabaseServer extends AutoCloseable permits H2Server, ProcessServer {

    Engine engine();

    /** The address of the administrative database of the server. Tests write to a database from {@link #createDatabase}. */
    String jdbcUrl();

    /** The name of a user with all privileges. */
    String user();

    String password();

    /** A data source for {@link #jdbcUrl()}, without a pool. */
    DataSource dataSource();

    /**
     * Creates a new, empty database. Its name is the prefix and a number that this server has not used yet, so two callers with
     * the same prefix get different databases. The database exists until the server is closed.
     *
     * @param prefix up to 40 characters: a lower-case letter, then lower-case letters, digits or underscores
     * @throws IllegalArgumentException if the prefix is not valid
     * @throws IllegalStateException if the server refuses or is not running
     */
    Database createDatabase(String prefix);

    /**
     * Kills the server and all its processes at once, as {@code kill -9} does, and returns when they have ended. Does nothing
     * if the server is already down.
     *
     * @throws UnsupportedOperationException if the engine is not {@linkplain Engine#isCrashable() crashable}
     */
    void crash();

    /**
     * Starts the server again, on the same port and data, and returns when it accepts connections. A server that is still running
     * is crashed first.
     *
     * @throws DatabaseUnavailableException if the server does not start
     * @throws UnsupportedOperationException if the engine is not {@linkplain Engine#isCrashable() crashable}
     */
    void restart();

    /**
     * The id of the server's main process; after a crash, the id of the killed process.
     *
     * @throws UnsupportedOperationException if the engine is not {@linkplain Engine#isCrashable() crashable}
     */
    long pid();

    /** Stops the server without waiting for its clients, and deletes its data. Further calls do nothing. */
    @Override
    void close();
}
