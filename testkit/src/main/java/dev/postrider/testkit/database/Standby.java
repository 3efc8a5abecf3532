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
 * A PostgreSQL server that follows another one and can take its place when that one dies. Use it from one thread; everybody else may go on
 * using the other server.
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
     * Copies a server, which goes on meanwhile, and follows it. Has all that was committed before the call when it returns.
     *
     * @throws UnsupportedOperationException if the server is no PostgreSQL
     */
    public static Standby of(DatabaseServer primary) {
        if (!(primary instanceof ProcessServer origin) || !primary.jdbcUrl().startsWith("jdbc:postgresql:")) {
            throw new UnsupportedOperationException(primary + " cannot be followed");
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
            // What is written until the copy asks for it must be there still.
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
        // Instead of what was set for the primary.
        Files.writeString(
                data.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=127.0.0.1 port=" + origin.port() + " user=" + origin.user()
                        + " application_name=standby'\n"
                        // When there is nobody to follow, it looks again so often.
                        + "wal_retrieve_retry_interval = '100ms'\n");
    }

    /** The log is sent over, from the beginning of the copy on; and the copy is not the process that the original is. */
    private static boolean isCopied(Path path) {
        return !path.toString().startsWith("postmaster.") && !(path.startsWith("pg_wal") && path.getNameCount() > 1);
    }

    /** For reading only, until it is promoted. */
    public DatabaseServer server() {
        return server;
    }

    /**
     * From now on a commit of the primary is answered when it is on the disk here, too. Everything that was answered before is as well when
     * this returns.
     */
    public void bindCommits() {
        waitedFor = true;
        set(primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
        awaitTrue(primary, "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
        awaitAll();
    }

    /** From now on nothing of what the primary commits arrives here. */
    public void loseTouch() {
        set(server, "ALTER SYSTEM SET primary_conninfo = ''");
        awaitTrue(server, "SELECT count(*) = 0 FROM pg_stat_wal_receiver");
    }

    /** Follows nobody any more, and can be written to. The primary must be down. */
    public void promote() {
        awaitTrue(server, "SELECT pg_promote(true, " + PATIENCE.toSeconds() + ")");
        waitedFor = false;
    }

    /**
     * Ends, and leaves everything to the primary: restart it, and its address leads to what was here.
     *
     * @throws IllegalStateException if the primary still runs
     */
    public void takePlace() {
        try {
            server.bequeath(primary);
            gone = true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends; the primary goes on alone. */
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
        String end = ask(primary, "SELECT pg_current_wal_insert_lsn()", Standby::first);
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

    /** Its answer is null if it is to be asked again. */
    @FunctionalInterface
    private interface Question<T> {
        @Nullable
        T ask(Statement statement, String sql) throws SQLException;
    }

    /** Until there is an answer: the server may have no connection left for a while. */
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
        throw new IllegalStateException("Not within " + PATIENCE.toSeconds() + " s: " + sql, failure);
    }
}
