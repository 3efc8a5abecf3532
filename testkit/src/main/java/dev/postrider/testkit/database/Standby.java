package dev.postrider.testkit.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL standby: a server that replicates a primary and can replace it after a crash. Not thread-safe. Other threads can use the
 * primary at the same time.
 */
public final class Standby implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long LOOK_EVERY = TimeUnit.MILLISECONDS.toNanos(20);

    private final ProcessServer primary;
    private final ProcessServer server;
    private boolean waitedFor;
    private boolean gone;

    private Standby(ProcessServer primary, ProcessServer server) {
        this.primary = primary;
        this.server = server;
    }

    /**
     * Copies a running server and starts to replicate it. When this method returns, the standby has all transactions that were committed
     * before the call.
     *
     * @throws UnsupportedOperationException if the server is not PostgreSQL
     */
    public static Standby of(DatabaseServer primary) {
        if (!(primary instanceof ProcessServer origin) || !primary.jdbcUrl().startsWith("jdbc:postgresql:")) {
            throw new UnsupportedOperationException(primary + " cannot be replicated: it is not PostgreSQL");
        }
        try {
            Standby standby = new Standby(origin, origin.another(data -> copy(origin, data)));
            try {
                standby.awaitAll();
                return standby;
            } catch (IllegalStateException e) {
                standby.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copy(ProcessServer origin, Path data) throws IOException {
        try (Connection connection = origin.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            // Keeps the log that the primary writes until the standby connects.
            statement.execute("ALTER SYSTEM SET wal_keep_size = '1GB'");
            statement.execute("SELECT pg_reload_conf()");
            statement.execute("SELECT pg_backup_start('standby', true)");
            FileTrees.copyInUse(origin.data(), data, Standby::isCopied);
            try (ResultSet stop = statement.executeQuery("SELECT labelfile FROM pg_backup_stop(false)")) {
                stop.next();
                Files.writeString(data.resolve("backup_label"), stop.getString(1));
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot copy " + origin, e);
        }
        Files.createFile(data.resolve("standby.signal"));
        // Replaces the settings of the primary.
        Files.writeString(
                data.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=127.0.0.1 port=" + origin.port() + " user=" + origin.user()
                        + " application_name=standby'\n"
                        // The interval of attempts to connect while there is no primary.
                        + "wal_retrieve_retry_interval = '100ms'\n");
    }

    /** Leaves out the log, which the primary sends from the start of the copy, and the files about the process of the primary. */
    private static boolean isCopied(Path path) {
        return !path.toString().startsWith("postmaster.") && !(path.startsWith("pg_wal") && path.getNameCount() > 1);
    }

    /** The server of the standby. It is read-only until {@link #promote}. */
    public DatabaseServer server() {
        return server;
    }

    /**
     * Makes the replication synchronous: from now on, the primary confirms a commit only when it is on the disk of the standby too. When
     * this method returns, all commits that were confirmed before are on that disk as well.
     */
    public void bindCommits() {
        waitedFor = true;
        set(primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
        awaitTrue(primary, "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
        awaitAll();
    }

    /** Stops the replication: later commits of the primary do not reach the standby. */
    public void loseTouch() {
        set(server, "ALTER SYSTEM SET primary_conninfo = ''");
        awaitTrue(server, "SELECT count(*) = 0 FROM pg_stat_wal_receiver");
    }

    /** Ends the replication and makes the standby writable. The primary must be down. */
    public void promote() {
        awaitTrue(server, "SELECT pg_promote(true, " + PATIENCE.toSeconds() + ")");
        waitedFor = false;
    }

    /**
     * Stops the standby and moves its data to the primary. After a restart, the primary serves this data at its own address.
     *
     * @throws IllegalStateException if the primary is still running
     */
    public void takePlace() {
        try {
            server.bequeath(primary);
            gone = true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Stops the standby. The primary continues without it. */
    @Override
    public void close() {
        if (gone) {
            return;
        }
        gone = true;
        try {
            if (waitedFor) {
                set(primary, "ALTER SYSTEM RESET synchronous_standby_names");
            }
        } finally {
            server.close();
        }
    }

    private void awaitAll() {
        // Not the position of the next record: after a switch of the log it lies behind a page header, which is not
        // sent before that record.
        String end = ask(primary, "SELECT pg_current_wal_flush_lsn()", Standby::first);
        awaitTrue(
                primary,
                "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND flush_lsn >= '" + end
                        + "'");
    }

    private static void set(DatabaseServer server, String setting) {
        ask(server, setting, (statement, sql) -> !statement.execute(sql));
        awaitTrue(server, "SELECT pg_reload_conf()");
    }

    private static void awaitTrue(DatabaseServer server, String question) {
        ask(server, question, (statement, sql) -> "t".equals(first(statement, sql)) ? true : null);
    }

    private static @Nullable String first(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    /** A query. It returns null if it must be repeated. */
    @FunctionalInterface
    private interface Question<T> {
        @Nullable
        T ask(Statement statement, String sql) throws SQLException;
    }

    /** Repeats a query until it returns a result. The server may refuse connections for a while, for example when all are in use. */
    private static <T> T ask(DatabaseServer server, String sql, Question<T> question) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        SQLException failure = null;
        while (System.nanoTime() - deadline < 0) {
            try (Connection connection = server.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                T answer = question.ask(statement, sql);
                if (answer != null) {
                    return answer;
                }
            } catch (SQLException e) {
                failure = e;
            }
            LockSupport.parkNanos(LOOK_EVERY);
        }
        throw new IllegalStateException("No result within " + PATIENCE.toSeconds() + " s: " + sql, failure);
    }
}
