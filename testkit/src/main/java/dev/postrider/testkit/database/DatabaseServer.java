package dev.postrider.testkit.database;

import javax.sql.DataSource;

/**
 * A running database server. All methods may be called from any thread; {@link #crash()}, {@link #restart()} and
 * {@link #close()} exclude one another, and the port and the data stay the same from start to close.
 */
public sealed interface DatabaseServer extends AutoCloseable permits H2Server, ProcessServer {

    Engine engine();

    /** The address of the server's own administrative database; use {@link #createDatabase} for one to write to. */
    String jdbcUrl();

    /** A user that may do everything. */
    String user();

    String password();

    /** Unpooled connections to {@link #jdbcUrl()}. */
    DataSource dataSource();

    /**
     * Creates an empty database that nobody else has. Its name is the prefix and a number that this server has not used yet,
     * so that two callers with the same prefix cannot meet. It is not dropped before the server is closed.
     *
     * @param prefix up to 40 characters: a lower-case letter, then lower-case letters, digits or underscores
     * @throws IllegalArgumentException if the prefix is none
     * @throws IllegalStateException if the server refuses or does not run
     */
    Database createDatabase(String prefix);

    /**
     * Kills the server and all its processes at once, as {@code kill -9} does, and returns when they are gone. Does nothing
     * when the server is down already.
     *
     * @throws UnsupportedOperationException if the engine is not {@linkplain Engine#isCrashable() crashable}
     */
    void crash();

    /**
     * Starts the server on the same port and data, after a {@link #crash()} or by crashing it first, and returns when it
     * accepts connections.
     *
     * @throws DatabaseUnavailableException if it does not come up
     * @throws UnsupportedOperationException if the engine is not {@linkplain Engine#isCrashable() crashable}
     */
    void restart();

    /**
     * The id of the server's main process; after a crash, of the one that died.
     *
     * @throws UnsupportedOperationException if the engine is not {@linkplain Engine#isCrashable() crashable}
     */
    long pid();

    /** Stops the server, without waiting for its clients, and deletes its data. Calling it again does nothing. */
    @Override
    void close();
}
