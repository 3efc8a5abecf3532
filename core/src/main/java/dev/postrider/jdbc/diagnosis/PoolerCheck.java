package dev.postrider.jdbc.diagnosis;

import dev.postrider.jdbc.sql.SessionStatements;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds a pooler between this process and the server that moves a connection from session to session. While the pooler has
 * little to do, a connection may stay in one session, and the pooler is not found.
 */
final class PoolerCheck {

    private static final int TRIES = 20;

    List<DiagnosisFinding> findings(BoundedQueries queries) throws SQLException {
        SessionStatements statements = SessionStatements.of(queries.sql());
        Set<Long> sessions = new HashSet<>();
        for (int i = 0; i < TRIES; i++) {
            sessions.add(statements.id(queries.connection()));
        }
        return sessions.size() == 1
                ? List.of()
                : List.of(
                        DiagnosisFinding.warn(
                                "pooler",
                                TRIES + " statements of one connection ran in " + sessions.size()
                                        + " sessions: there is a pooler that changes the session after a transaction or a statement."
                                        + " The doorbell does not work through it, and neither does a migration",
                                "use the address of the server itself for migrations, and for doorbell.url in the file of the relay"));
    }
}
