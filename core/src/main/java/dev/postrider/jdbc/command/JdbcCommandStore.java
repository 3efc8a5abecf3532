package dev.postrider.jdbc.command;

import dev.postrider.error.PostriderException;
import dev.postrider.internal.store.CommandClaim;
import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandOutcome;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Stores commands over JDBC. Thread-safe. */
public final class JdbcCommandStore implements CommandStore {

    /** More commands in one statement are not faster, and databases limit the number of parameters. */
    private static final int RENEWED_AT_ONCE = 500;

    private final Sessions sessions;
    private final CommandStatements statements;
    private final SessionStatements session;

    public JdbcCommandStore(Sessions sessions, CommandStatements statements, SessionStatements session) {
        this.sessions = sessions;
        this.statements = statements;
        this.session = session;
    }

    @Override
    public CommandRecord claim(CommandClaim claim) {
        return sessions.limited(
                "claim a command", connection -> statements.claimAlone(connection, claim, sessions.lockTimeout()));
    }

    @Override
    public Optional<CommandRecord> take(CommandClaim claim, CommandRecord found) {
        return sessions.transaction(
                "take over a command", connection -> statements.take(connection, claim, found, false));
    }

    @Override
    public Optional<CommandRecord> find(CommandId id) {
        return sessions.statement("find a command", connection -> statements.find(connection, id, false));
    }

    @Override
    public boolean complete(CommandOwner owner, CommandOutcome outcome) {
        return sessions.statement("complete a command", connection -> statements.complete(connection, owner, outcome));
    }

    @Override
    public boolean fail(CommandOwner owner, String error, int maxAttempts) {
        return sessions.statement(
                "write a failed command", connection -> statements.fail(connection, owner, error, maxAttempts));
    }

    @Override
    public boolean markUncertain(CommandRecord found) {
        return sessions.statement(
                "make a command uncertain", connection -> statements.markUncertain(connection, found));
    }

    @Override
    public Set<CommandOwner> renew(Collection<CommandOwner> owners) {
        Set<CommandOwner> lost = new HashSet<>();
        List<CommandOwner> all = new ArrayList<>(owners);
        for (int from = 0; from < all.size(); from += RENEWED_AT_ONCE) {
            List<CommandOwner> some = all.subList(from, Math.min(from + RENEWED_AT_ONCE, all.size()));
            lost.addAll(sessions.transaction("renew commands", connection -> statements.renew(connection, some)));
        }
        return lost;
    }

    @Override
    public boolean startEffect(CommandOwner owner, boolean uncertainIfLost) {
        return sessions.statement(
                "start an effect", connection -> statements.startEffect(connection, owner, uncertainIfLost));
    }

    @Override
    public boolean saveSteps(CommandOwner owner, CommandRecord.Steps steps) {
        return sessions.statement("save steps", connection -> statements.saveSteps(connection, owner, steps.bytes()));
    }

    @Override
    public Joined within(UnitOfWork unit) {
        return new JoinedTransaction(unit.connection());
    }

    private final class JoinedTransaction implements Joined {

        private final Connection connection;

        JoinedTransaction(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Optional<CommandRecord> claim(CommandClaim claim, Duration atMost) {
            return run("claim a command", () -> {
                Savepoint savepoint = connection.setSavepoint();
                try {
                    CommandRecord found =
                            session.waitingAtMost(connection, atMost, waiting -> statements.claim(waiting, claim));
                    connection.releaseSavepoint(savepoint);
                    return Optional.of(found);
                } catch (SQLException e) {
                    if (!SqlErrors.isLockTimeout(e)) {
                        throw e;
                    }
                    connection.rollback(savepoint);
                    return Optional.empty();
                }
            });
        }

        @Override
        public Optional<CommandRecord> take(CommandClaim claim, CommandRecord found) {
            return run("take over a command", () -> statements.take(connection, claim, found, true));
        }

        @Override
        public boolean complete(CommandOwner owner, CommandOutcome outcome) {
            return run("complete a command", () -> statements.complete(connection, owner, outcome));
        }

        /** Rolls back the transaction after a conflict: a conflict may undo only its statement, and the rest must not be committed. */
        private <T> T run(String doing, InTransactionBody<T> body) {
            try {
                return body.run();
            } catch (SQLException e) {
                PostriderException translated = SqlErrors.translateInTransaction(doing, e);
                if (SqlErrors.isConflict(e)) {
                    Sessions.rollback(connection, translated);
                }
                throw translated;
            }
        }
    }

    @FunctionalInterface
    private interface InTransactionBody<T> {
        T run() throws SQLException;
    }
}
