package dev.postrider.jdbc.sql;

import dev.postrider.error.PostriderException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.StoreException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Classifies and translates errors of the database, by SQLState and vendor code, never by their text. */
public final class SqlErrors {

    /** How to get the tables of this version. */
    public static final String FIX =
            "Run `postrider migrate --db <jdbc url>`, or call postrider.migrate(), or apply the files under"
                    + " dev/postrider/schema with your own tool";

    /** Serialization failure, deadlock, lock timeout of PostgreSQL, lock timeout of H2. */
    private static final Set<String> CONFLICT_STATES = Set.of("40001", "40P01", "55P03", "HYT00");

    /** MySQL and MariaDB: deadlock, lock wait timeout, record changed since last read, lock not acquired at once. */
    private static final Set<Integer> CONFLICT_CODES = Set.of(1213, 1205, 1020, 3572);

    /** MySQL and MariaDB. */
    private static final int DEADLOCK = 1213;

    private static final int RECORD_CHANGED = 1020;

    private static final Set<String> LOCK_TIMEOUT_STATES = Set.of("55P03", "HYT00");
    private static final Set<Integer> LOCK_TIMEOUT_CODES = Set.of(1205, 3572);

    /**
     * Shutting down, crashed, starting up, idle for too long; out of connections, disk or memory; a read-only server after a promotion
     * or demotion.
     */
    private static final Set<String> UNAVAILABLE_STATES =
            Set.of("57P01", "57P02", "57P03", "57P05", "25P03", "53000", "53100", "53200", "53300", "25006");

    /** MySQL and MariaDB: too many connections, read-only server, shutting down, killed, gone away, idle for too long. */
    private static final Set<Integer> UNAVAILABLE_CODES =
            Set.of(1040, 1203, 1226, 1290, 1836, 1792, 1053, 1077, 1927, 2006, 2013, 4031);

    /** MySQL and MariaDB: access denied for the user, for the host, by a plugin; H2: wrong user or password. */
    private static final Set<Integer> LOGIN_REFUSED_CODES = Set.of(1045, 1130, 1698, 28000);

    /** H2: database closed, connection broken, session closed. */
    private static final Set<Integer> UNAVAILABLE_H2_CODES = Set.of(90121, 90067, 90098, 90135);

    private static final Set<String> MISSING_TABLE_STATES =
            Set.of("42P01", "42S02", "3F000", "42S03", "42S04", "42703", "42S22");

    /** MySQL and MariaDB: unknown database; H2: unknown schema. */
    private static final Set<Integer> MISSING_SCHEMA_CODES = Set.of(1049, 90079);

    /** The first is of MySQL and MariaDB, the second of H2. */
    private static final Set<Integer> MISSING_SAVEPOINT_CODES = Set.of(1305, 90063);

    /** The limit for chains of causes, which may be circular. */
    private static final int DEEPEST_CAUSE = 20;

    /** MySQL and MariaDB: access denied to a table, a column, a database, for want of a privilege; H2: not enough rights. */
    private static final Set<Integer> DENIED_CODES = Set.of(1142, 1143, 1044, 1227, 90096);

    private static final String ABORTED_TRANSACTION = "25P02";
    private static final Set<String> READ_ONLY_STATES = Set.of("25006", "90097");
    private static final Set<Integer> READ_ONLY_CODES = Set.of(1792, 1290, 1836, 90097);

    private SqlErrors() {}

    public static boolean isConflict(SQLException e) {
        return CONFLICT_STATES.contains(state(e)) || CONFLICT_CODES.contains(e.getErrorCode());
    }

    /** Also checks the causes, because frameworks wrap the exceptions of a driver. */
    public static boolean isCausedByConflict(Throwable failure) {
        return isCausedBy(
                failure,
                cause -> cause instanceof TransactionConflictException
                        || (cause instanceof SQLException e && isConflict(e)));
    }

    /** Whether this error means that the database has rolled back the whole transaction. After a lock timeout it is still there. */
    public static boolean rollsBackTransaction(SQLException e) {
        return !isLockTimeout(e)
                && (state(e).equals("40001") || e.getErrorCode() == DEADLOCK || e.getErrorCode() == RECORD_CHANGED);
    }

    public static boolean isCausedByRollback(Throwable failure) {
        return isCausedBy(failure, cause -> cause instanceof SQLException e && rollsBackTransaction(e));
    }

    public static boolean isCausedByLockTimeout(Throwable failure) {
        return isCausedBy(failure, cause -> cause instanceof SQLException e && isLockTimeout(e));
    }

    private static boolean isCausedBy(Throwable failure, Predicate<Throwable> kind) {
        @Nullable Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
            if (kind.test(cause)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    /** Whether the statement waited too long for a lock. Nothing indicates another error. */
    public static boolean isLockTimeout(SQLException e) {
        return LOCK_TIMEOUT_STATES.contains(state(e)) || LOCK_TIMEOUT_CODES.contains(e.getErrorCode());
    }

    public static boolean isUnavailable(SQLException e) {
        return state(e).startsWith("08")
                || UNAVAILABLE_STATES.contains(state(e))
                || UNAVAILABLE_CODES.contains(e.getErrorCode())
                || UNAVAILABLE_H2_CODES.contains(e.getErrorCode())
                || e instanceof SQLTransientConnectionException
                || e instanceof SQLNonTransientConnectionException
                || e instanceof SQLRecoverableException;
    }

    /** Whether the session, the transaction or the server is read-only, so that this connection cannot write. */
    public static boolean isReadOnly(SQLException e) {
        return READ_ONLY_STATES.contains(state(e)) || READ_ONLY_CODES.contains(e.getErrorCode());
    }

    public static boolean isDuplicateKey(SQLException e) {
        return state(e).equals("23505") || e.getErrorCode() == 1062;
    }

    /** Whether a savepoint does not exist, which means that its transaction has ended. */
    public static boolean isMissingSavepoint(SQLException e) {
        return state(e).equals("3B001") || MISSING_SAVEPOINT_CODES.contains(e.getErrorCode());
    }

    public static boolean isMissingTable(SQLException e) {
        return MISSING_TABLE_STATES.contains(state(e)) || MISSING_SCHEMA_CODES.contains(e.getErrorCode());
    }

    /** Whether the user lacks a privilege. */
    public static boolean isDenied(SQLException e) {
        return state(e).equals("42501") || DENIED_CODES.contains(e.getErrorCode());
    }

    /** Whether the user, the password or the host was refused. A retry does not help. */
    private static boolean isLoginRefused(SQLException e) {
        return state(e).startsWith("28") || LOGIN_REFUSED_CODES.contains(e.getErrorCode());
    }

    /** Returns the cause of a pool's exception: the pool reports that it has no connection, and only the cause contains the reason. */
    private static String causeOf(SQLException e) {
        return e instanceof SQLTransientConnectionException && e.getCause() instanceof SQLException cause
                ? " (" + cause.getMessage() + ")"
                : "";
    }

    /** Translates an error on a connection that Postrider opened. */
    public static PostriderException translate(String doing, SQLException e) {
        String text = "Could not " + doing + ": " + (isLoginRefused(e) ? "the database refuses the login: " : "")
                + e.getMessage() + causeOf(e) + " [SQLState " + e.getSQLState() + ", code "
                + e.getErrorCode() + "]";
        if (isUnavailable(e)) {
            return new StoreUnavailableException(text, e);
        }
        if (isMissingTable(e)) {
            return new SchemaMismatchException(text + ". " + FIX);
        }
        return new StoreException(text, e);
    }

    /** Translates an error on the caller's connection, in the caller's transaction. */
    public static PostriderException translateInTransaction(String doing, SQLException e) {
        if (state(e).equals(ABORTED_TRANSACTION)) {
            return new UnusableConnectionException(Problem.ABORTED, "", e);
        }
        if (isReadOnly(e)) {
            return new UnusableConnectionException(Problem.READ_ONLY, "", e);
        }
        return isConflict(e) ? new TransactionConflictException(e) : translate(doing, e);
    }

    private static String state(SQLException e) {
        String state = e.getSQLState();
        return state == null ? "" : state;
    }
}
