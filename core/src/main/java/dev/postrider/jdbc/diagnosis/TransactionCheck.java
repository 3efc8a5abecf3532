package dev.postrider.jdbc.diagnosis;

import dev.postrider.admin.OldestTransaction;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.Sessions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Finds a transaction that is old: until it ends, removed rows stay in the tables, and scans step over them. */
final class TransactionCheck {

    private final Sessions.Body<Optional<OldestTransaction>> oldest;
    private final Duration limit;

    TransactionCheck(Sessions.Body<Optional<OldestTransaction>> oldest, Duration limit) {
        this.oldest = oldest;
        this.limit = limit;
    }

    List<DiagnosisFinding> findings(BoundedQueries queries) throws SQLException {
        Optional<OldestTransaction> found = oldest.run(queries.connection());
        if (found.isEmpty() || found.get().age().compareTo(limit) <= 0) {
            return List.of();
        }
        OldestTransaction transaction = found.get();
        return List.of(DiagnosisFinding.warn(
                "transactions",
                "Session " + transaction.session() + " (" + transaction.description()
                        + ") has had a transaction open for "
                        + transaction.age().toSeconds()
                        + " s: until it ends, removed rows are not cleaned up",
                end(queries.sql().kind(), transaction.session())));
    }

    private static String end(DatabaseKind kind, String session) {
        return kind == DatabaseKind.POSTGRESQL
                ? "SELECT pg_terminate_backend(" + session + ");"
                : "KILL " + session + ";";
    }
}
