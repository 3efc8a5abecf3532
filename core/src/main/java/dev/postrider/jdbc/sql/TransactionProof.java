package dev.postrider.jdbc.sql;

import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Proves at the server that a connection is still in the transaction in which the work began. It is asked only around a statement whose
 * text could hide the end of the transaction. It remembers the end. The guards of one connection share it. Used by one thread.
 */
public abstract class TransactionProof {

    /** What other code does while the transaction is certainly the original one. */
    @FunctionalInterface
    public interface Preparation {
        void run() throws SQLException;
    }

    private Preparation preparation = () -> {};
    private boolean isDue;
    private boolean isWatched;
    private @Nullable UnusableConnectionException ended;

    /** Sets what is done before each statement that could end the transaction. */
    public final void prepare(Preparation preparation) {
        this.preparation = preparation;
    }

    /** Prepares the proof before a statement that could end the transaction. */
    final void begin(Connection connection) throws SQLException {
        preparation.run();
        remember(connection);
        isDue = true;
    }

    /** Prepares the proof before user code gets the driver's own object, with which it could end the transaction at any time. */
    final void watch(Connection connection) throws SQLException {
        preparation.run();
        if (canWatch()) {
            remember(connection);
            isWatched = true;
            isDue = true;
        }
    }

    /**
     * Proves the transaction, if a statement could have ended it since the last proof.
     *
     * @throws UnusableConnectionException if it was ended
     * @throws SQLException if the server did not answer the question; the proof stays due
     */
    final void prove(Connection connection) throws SQLException {
        requireNotEnded();
        if (isDue) {
            boolean same = isSame(connection);
            isDue = isWatched;
            if (!same) {
                throw end(null);
            }
        }
    }

    /** Gives up the proof, because the database has certainly rolled back the transaction. */
    final void rolledBack() {
        isDue = false;
        isWatched = false;
        forget();
    }

    final boolean isDue() {
        return isDue;
    }

    /** Remembers that the transaction was ended by user code. */
    public final UnusableConnectionException end(@Nullable Throwable cause) {
        if (ended == null) {
            ended = new UnusableConnectionException(Problem.ENDED, "", cause);
        }
        return ended;
    }

    public final @Nullable UnusableConnectionException ended() {
        return ended;
    }

    final void requireNotEnded() {
        if (ended != null) {
            throw ended;
        }
    }

    /** Whether the proof still holds when user code has returned to a savepoint meanwhile, so that it may come much later. */
    abstract boolean canWatch();

    /** Whether the client learns of a deadlock only by its error: the server has no other sign of the lost transaction. */
    abstract boolean isLostByConflict();

    abstract void remember(Connection connection) throws SQLException;

    abstract boolean isSame(Connection connection) throws SQLException;

    abstract void forget();

    /** By the id that the server gives to a transaction. */
    static final class ById extends TransactionProof {

        private static final String POSTGRES = "SELECT pg_current_xact_id()";
        private static final String H2 = "CALL TRANSACTION_ID()";

        /** A transaction of H2 has an id once it has changed a row. */
        private static final List<String> H2_CHANGE = List.of(
                "CREATE LOCAL TEMPORARY TABLE IF NOT EXISTS postrider_transaction (id INT) TRANSACTIONAL",
                "INSERT INTO postrider_transaction VALUES (1)");

        private final String question;
        private final List<String> change;
        private @Nullable String id;

        private ById(String question, List<String> change) {
            this.question = question;
            this.change = change;
        }

        static TransactionProof onPostgres() {
            return new ById(POSTGRES, List.of());
        }

        static TransactionProof onH2() {
            return new ById(H2, H2_CHANGE);
        }

        @Override
        boolean canWatch() {
            return true;
        }

        @Override
        boolean isLostByConflict() {
            return !change.isEmpty();
        }

        @Override
        void remember(Connection connection) throws SQLException {
            if (id == null) {
                id = ask(connection);
            }
            if (id == null) {
                for (String statement : change) {
                    execute(connection, statement);
                }
                id = ask(connection);
            }
        }

        @Override
        boolean isSame(Connection connection) throws SQLException {
            String now = ask(connection);
            return id != null && id.equals(now);
        }

        @Override
        void forget() {
            id = null;
        }

        private @Nullable String ask(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(question)) {
                return row.next() ? row.getString(1) : null;
            }
        }

        private static void execute(Connection connection, String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }
    }

    /**
     * By a savepoint, which ends with its transaction. It is also removed when the statement itself returns to an older savepoint of user
     * code. That is taken for an end, although the transaction goes on: the server has no question that tells the two apart and leaves
     * older savepoints in place.
     */
    static final class BySavepoint extends TransactionProof {

        private @Nullable Savepoint savepoint;

        /** False: a return to an earlier savepoint removes this one. Savepoints of the callers of this package prove the rest. */
        @Override
        boolean canWatch() {
            return false;
        }

        @Override
        boolean isLostByConflict() {
            return false;
        }

        @Override
        void remember(Connection connection) throws SQLException {
            if (savepoint == null) {
                savepoint = connection.setSavepoint();
            }
        }

        @Override
        boolean isSame(Connection connection) throws SQLException {
            Savepoint before = savepoint;
            if (before == null) {
                return true;
            }
            try {
                connection.releaseSavepoint(before);
                savepoint = null;
                return true;
            } catch (SQLException e) {
                if (!SqlErrors.isMissingSavepoint(e)) {
                    throw e;
                }
                savepoint = null;
                return false;
            }
        }

        @Override
        void forget() {
            savepoint = null;
        }
    }
}
