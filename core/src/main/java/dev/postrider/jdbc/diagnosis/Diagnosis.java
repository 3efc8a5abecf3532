package dev.postrider.jdbc.diagnosis;

import dev.postrider.admin.OldestTransaction;
import dev.postrider.error.PostriderException;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Examines the database of the tables. It only reads, each statement for a few seconds at most. A check that the database user may not
 * make, or that takes too long, is reported as such and does not end the diagnosis. Thread-safe.
 */
public final class Diagnosis {

    private static final String ANY_MESSAGE = """
            (SELECT 1 FROM {message} LIMIT 1) UNION ALL (SELECT 1 FROM {archive} LIMIT 1) UNION ALL (SELECT 1 FROM {dedup} LIMIT 1)
            """;

    private final Sessions sessions;
    private final SqlRunner sql;
    private final List<DiagnosisCheck> checks;

    /**
     * @param script the statements that create the tables
     * @param oldest finds the oldest transaction that the database user may see
     */
    public Diagnosis(
            Sessions sessions,
            SqlRunner sql,
            List<String> script,
            Sessions.Body<Optional<OldestTransaction>> oldest,
            DiagnosisLimits limits) {
        this.sessions = sessions;
        this.sql = sql;
        this.checks = new ArrayList<>();
        ServerChecks server = ServerChecks.of(sql.kind(), limits);
        checks.add(new DiagnosisCheck("settings", "The settings of the server keep commits.", server::settings));
        checks.add(new DiagnosisCheck("pooler", "Every statement came from one session.", new PoolerCheck()::findings));
        checks.add(new DiagnosisCheck(
                "transactions",
                "No transaction is old.",
                new TransactionCheck(oldest, limits.transactionAge())::findings));
        checks.add(new DiagnosisCheck(
                "indexes", "Every index exists and is valid.", new IndexCheck(script, server)::findings));
        checks.add(new DiagnosisCheck("plans", "The frequent statements use their indexes.", server::plans));
        checks.add(new DiagnosisCheck("bloat", "Removed rows are cleaned up.", server::bloat));
        RowChecks rows = new RowChecks();
        checks.add(new DiagnosisCheck("rows", "The rows obey the rules of the message table.", rows::unsound));
        checks.add(new DiagnosisCheck("payloads", "No payload was written under several keys.", rows::equalPayloads));
        checks.add(new DiagnosisCheck("ids", "No payload was received under several ids.", rows::changingIds));
    }

    /** Returns the time of the database. */
    public Instant now() {
        return sessions.statement(
                "read the time",
                connection -> new BoundedQueries(connection, sql).query("SELECT {now}", binder -> {}, row -> {
                    row.next();
                    return Objects.requireNonNull(sql.readTime(row, 1));
                }));
    }

    /** Returns whether no message was ever written: there is none, none in the archive, and no idempotency key. */
    public boolean isUnused() {
        return sessions.statement(
                "look for messages",
                connection -> new BoundedQueries(connection, sql)
                        .first(ANY_MESSAGE, binder -> {})
                        .isEmpty());
    }

    /** Runs all checks. Returns at least one finding for each. */
    public List<DiagnosisFinding> run() {
        List<DiagnosisFinding> findings = new ArrayList<>();
        checks.forEach(check -> findings.addAll(run(check)));
        return findings;
    }

    private List<DiagnosisFinding> run(DiagnosisCheck check) {
        try {
            List<DiagnosisFinding> findings =
                    sessions.statement("diagnose " + check.name(), connection -> examine(check, connection));
            return findings.isEmpty() ? List.of(DiagnosisFinding.ok(check.name(), check.fine())) : findings;
        } catch (PostriderException e) {
            return List.of(DiagnosisFinding.warn(
                    check.name(),
                    "Could not be checked: " + e.getMessage(),
                    "try again when the database is less busy"));
        }
    }

    private List<DiagnosisFinding> examine(DiagnosisCheck check, Connection connection) throws SQLException {
        try {
            return check.examination().findings(new BoundedQueries(connection, sql));
        } catch (SQLException e) {
            if (SqlErrors.isDenied(e)) {
                return List.of(DiagnosisFinding.ok(
                        check.name(), "Not checked: this database user may not see it. " + e.getMessage()));
            }
            throw e;
        }
    }
}
