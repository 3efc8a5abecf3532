package dev.postrider.jdbc.outbox;

import static dev.postrider.jdbc.outbox.PostgresInserts.FEW;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.GuardedConnection;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inserts the last messages of a transaction and commits it, in one request to PostgreSQL. The server executes the parts in their order
 * and skips the rest after an error, so the commit happens only if every row was inserted. If an id exists already, the transaction
 * returns to the savepoint, and continues as if nothing had been sent. Thread-safe.
 *
 * <p>The INSERT has no ON CONFLICT: an id that exists already must be an error, because nothing can be decided after the commit.
 */
final class InsertAndCommit {

    private static final Logger log = LoggerFactory.getLogger(InsertAndCommit.class);

    private static final String RETURN = "ROLLBACK TO SAVEPOINT postrider_insert";

    /**
     * Tries the request without a message. The first statement is an error inside a savepoint. So the trial fails with a driver that sets a
     * savepoint of its own before each statement ({@code autosave=always}): after an error such a driver returns to that savepoint, which removes
     * the one of this class. The answer is 0 if the driver sends each statement as a simple query ({@code preferQueryMode=simple}): then an
     * error does not skip the rest. In the extended protocol, where it does, the SELECT sees its own portal.
     */
    private static final String TRIAL = """
            SET TRANSACTION NOT DEFERRABLE;
            SAVEPOINT postrider_insert;
            SELECT count(*) AS answer FROM pg_cursors WHERE statement LIKE ?
            ; COMMIT""";

    /** Before the trial, because {@code autosave=always} begins with the second statement of a transaction. It takes no snapshot. */
    private static final String BEGUN = "SHOW transaction_isolation";

    /** By the number of their rows, from 1. */
    private static final List<String> INSERT_FEW = IntStream.rangeClosed(1, FEW)
            .mapToObj(PostgresInserts::insertFewAndCommit)
            .toList();

    private final SqlRunner sql;
    private volatile @Nullable Boolean works;

    InsertAndCommit(SqlRunner sql) {
        this.sql = sql;
    }

    /**
     * Finds out once whether the driver can send the request. Call it when a transaction has begun and no statement has run in it, not
     * even one of the data source: the trial commits.
     */
    void tryOnce(Connection connection) throws SQLException {
        if (works == null) {
            try {
                works = tried(connection);
            } catch (SQLException e) {
                connection.rollback();
                if (SqlErrors.isUnavailable(e)) {
                    throw e;
                }
                works = false;
                log.debug(
                        "Messages are inserted and committed in two requests, because the driver refuses to do it in one",
                        e);
            }
        }
    }

    private static boolean tried(Connection connection) throws SQLException {
        try (Statement first = connection.createStatement()) {
            first.execute(BEGUN);
        }
        try (PreparedStatement trial = connection.prepareStatement(TRIAL)) {
            trial.setFetchSize(0);
            trial.setString(1, "%pg_cursors%");
            boolean isResult = trial.execute();
            while (!isResult && trial.getUpdateCount() >= 0) {
                isResult = trial.getMoreResults();
            }
            if (!isResult) {
                return false;
            }
            try (ResultSet row = trial.getResultSet()) {
                return row.next() && row.getInt("answer") > 0;
            }
        }
    }

    /**
     * Does the same after the first commit, on the connection of a data source without autocommit. Before it the trial would end what the
     * data source has set for the transaction. An error is only logged, because it does not change the committed transaction.
     */
    void tryOnceAfterCommit(Connection connection) {
        try {
            tryOnce(connection);
        } catch (SQLException e) {
            log.debug("The trial of an INSERT that commits met an unavailable server", e);
        }
    }

    /** Whether these rows can be written so: a few, due now, without an idempotency key, and only one if it gets a lease. */
    boolean suits(List<NewRow> rows, @Nullable LeasedInsert leasedInsert) {
        return Boolean.TRUE.equals(works)
                && !rows.isEmpty()
                && rows.size() <= (leasedInsert == null ? FEW : 1)
                && rows.stream().noneMatch(row -> row.isScheduled() || row.mark() != null)
                && JdbcOutbox.endOfStatement(rows, 0) == rows.size();
    }

    /**
     * Inserts the rows and commits. Only an id that exists leads back to the savepoint: then the INSERT has failed, so the savepoint is the
     * one of this request. After another error it could be a savepoint of the work with this name.
     *
     * @return whether the transaction is committed; if not, an id exists, nothing is inserted and the transaction is as before
     * @throws SQLException if the transaction was not committed and cannot continue, or if the answer of the server was lost
     */
    boolean run(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert) throws SQLException {
        Connection own = GuardedConnection.target(connection); // the guard refuses a COMMIT
        String text = sql.sql(
                leasedInsert == null ? INSERT_FEW.get(rows.size() - 1) : PostgresInserts.INSERT_ONE_LEASED_AND_COMMIT);
        boolean committed = false;
        try (PreparedStatement prepared = own.prepareStatement(text)) {
            bind(prepared, rows, leasedInsert);
            prepared.setFetchSize(0); // rows that are fetched after the COMMIT would have no portal
            boolean isResult = prepared.execute();
            committed = true;
            expect(rows.size(), read(prepared, isResult, leasedInsert));
            return true;
        } catch (SQLException e) {
            if (committed) {
                throw new IllegalStateException("A transaction was committed, but the answer could not be read", e);
            }
            if (!SqlErrors.isDuplicateKey(e)) {
                throw e;
            }
            returnToSavepoint(own, e);
            log.debug("The INSERT before a commit met an existing id, and is repeated alone", e);
            return false;
        }
    }

    /** After a failed commit the savepoint is gone: then this throws the failure. */
    private static void returnToSavepoint(Connection connection, SQLException failure) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(RETURN);
        } catch (SQLException e) {
            failure.addSuppressed(e);
            throw failure;
        }
    }

    private void bind(PreparedStatement prepared, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        Binder binder = sql.bind(prepared);
        for (NewRow row : rows) {
            row.bind(binder);
            if (leasedInsert != null) {
                leasedInsert.bindLease(binder).integer(row.topicId());
            }
        }
    }

    /** Reads the results of all parts, and returns how many rows were inserted. */
    private int read(PreparedStatement answered, boolean isFirstResult, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        int inserted = 0;
        boolean isResult = isFirstResult;
        while (isResult || answered.getUpdateCount() >= 0) {
            if (!isResult) {
                inserted += answered.getUpdateCount();
            } else if (leasedInsert != null) {
                try (ResultSet written = answered.getResultSet()) {
                    inserted += leasedInsert.read(written, sql).size();
                }
            }
            isResult = answered.getMoreResults();
        }
        return inserted;
    }

    /** Only another program can cause a difference, for example by a trigger that discards rows. */
    private static void expect(int rows, int inserted) {
        if (inserted != rows) {
            throw new IllegalStateException("A transaction was committed with " + inserted + " of its " + rows
                    + " staged messages: something discards rows of the message table");
        }
    }
}
