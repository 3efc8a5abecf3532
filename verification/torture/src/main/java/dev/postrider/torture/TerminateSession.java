package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Terminates a session from the server's side: any session, or one that is committing. */
final class TerminateSession implements Fault {

    private static final int LOOKS = 300;

    private final Engine engine;
    private final Database database;
    private final boolean committing;
    private final int pick;
    private String target = "";

    /** @param committing whether to search for a session that is committing, for a while */
    TerminateSession(Engine engine, Database database, boolean committing, int pick) {
        this.engine = engine;
        this.database = database;
        this.committing = committing;
        this.pick = pick;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            List<Long> sessions = List.of();
            for (int look = 0; committing && sessions.isEmpty() && look < LOOKS; look++) {
                sessions = sessions(statement, commitCondition());
            }
            target = sessions.isEmpty() ? "session" : "session in COMMIT";
            if (sessions.isEmpty()) {
                sessions = sessions(statement, "1 = 1");
            }
            if (sessions.isEmpty()) {
                return false;
            }
            long session = sessions.get(pick % sessions.size());
            statement.execute(
                    engine == Engine.POSTGRESQL_18
                            ? "SELECT pg_terminate_backend(" + session + ")"
                            : "KILL " + session);
            return true;
        }
    }

    private String commitCondition() {
        return engine == Engine.POSTGRESQL_18 ? "state = 'active' AND query = 'COMMIT'" : "LOWER(info) LIKE 'commit%'";
    }

    private List<Long> sessions(Statement statement, String condition) throws SQLException {
        String sql = engine == Engine.POSTGRESQL_18
                ? "SELECT pid FROM pg_stat_activity WHERE datname = '" + database.name()
                        + "' AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND " + condition
                        + " ORDER BY pid"
                : "SELECT id FROM information_schema.processlist WHERE db = '" + database.name()
                        + "' AND id <> CONNECTION_ID() AND " + condition + " ORDER BY id";
        List<Long> sessions = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                sessions.add(rows.getLong(1));
            }
        }
        return sessions;
    }

    @Override
    public void end() {}
}
