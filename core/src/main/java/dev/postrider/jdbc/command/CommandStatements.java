package dev.postrider.jdbc.command;

import dev.postrider.internal.store.CommandClaim;
import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandOutcome;
import dev.postrider.internal.store.CommandOutcome.StoredResult;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs the statements of commands on a connection of the store or of the caller. Thread-safe. */
public final class CommandStatements {

    /** How often a row may be purged between the insert that met it and the read. More often means another fault. */
    private static final int PURGE_RACES = 5;

    public static final String FIND = "SELECT " + CommandRow.COLUMNS + " FROM {command} WHERE id = ?";

    /**
     * Takes over a failed command, or a command whose owner lost its lease. It stays the same command. The statement checks owner and
     * fence, so it changes no row if another caller was faster.
     */
    public static final String RETAKE = """
            UPDATE {command}
            SET state = 'IN_PROGRESS', owner = ?, fence = fence + 1, lease_micros = ?, lease_until = {later}, uncertain_if_lost = ?,
                effect_started = FALSE, attempts = attempts + 1, reason = NULL, updated_at = {now}, key_expires_at = {later}
            WHERE id = ? AND owner = ? AND fence = ?
              AND (state = 'FAILED' OR state = 'IN_PROGRESS' AND lease_until <= {now} AND NOT uncertain_if_lost)
            """;

    /** Starts another command for a key that has expired. It uses the same row, so that the fence keeps rising. */
    public static final String RESTART = """
            UPDATE {command}
            SET reference = ?, operation = ?, tenant = ?, caller = ?, key_prefix = ?, state = 'IN_PROGRESS', owner = ?,
                fence = fence + 1, lease_micros = ?, lease_until = {later}, uncertain_if_lost = ?, effect_started = FALSE,
                attempts = 1, fingerprint = ?, fingerprint_version = ?, steps = NULL, outcome = NULL, result_kind = NULL,
                result_codec = NULL, result = NULL, reason = NULL, created_at = {now}, updated_at = {now}, completed_at = NULL,
                result_expires_at = NULL, key_expires_at = {later}
            WHERE id = ? AND owner = ? AND fence = ? AND key_expires_at <= {now}
              AND (state IN ('COMPLETED', 'FAILED') OR state = 'IN_PROGRESS' AND lease_until <= {now} AND NOT uncertain_if_lost)
            """;

    /** Completes a command. In a business transaction this is the last statement: an owner that was replaced cannot commit. */
    public static final String COMPLETE = """
            UPDATE {command}
            SET state = 'COMPLETED', outcome = ?, result_kind = ?, result_codec = ?, result = ?, reason = ?, steps = NULL,
                updated_at = {now}, completed_at = {now}, result_expires_at = CASE WHEN ? THEN {later} END, key_expires_at = {later}
            WHERE id = ? AND owner = ? AND fence = ? AND state IN ('IN_PROGRESS', 'UNCERTAIN')
            """;

    public static final String FAIL = """
            UPDATE {command}
            SET state = CASE WHEN attempts >= ? THEN 'UNCERTAIN' ELSE 'FAILED' END, reason = ?, updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state IN ('IN_PROGRESS', 'UNCERTAIN')
            """;

    public static final String MARK_UNCERTAIN = """
            UPDATE {command} SET state = 'UNCERTAIN', updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state = 'IN_PROGRESS' AND lease_until <= {now}
            """;

    public static final String START_EFFECT = """
            UPDATE {command} SET effect_started = TRUE, uncertain_if_lost = ?, updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state = 'IN_PROGRESS'
            """;

    public static final String SAVE_STEPS = """
            UPDATE {command} SET steps = ?, updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state = 'IN_PROGRESS'
            """;

    /** Skips locked rows: another transaction is just completing these commands, and a heartbeat must not wait for it. */
    public static final String LOCK_RENEWED = """
            SELECT id, owner, fence FROM {command}{by key}
            WHERE id IN ({values}) AND owner IN ({owners}) AND state = 'IN_PROGRESS'
            FOR UPDATE SKIP LOCKED
            """;

    public static final String RENEW =
            "UPDATE {command}{by key} SET lease_until = {renewed} WHERE id IN ({values}) AND state = 'IN_PROGRESS'";

    public static final String STILL_OWNED = """
            SELECT id, owner, fence FROM {command}
            WHERE id IN ({values}) AND owner IN ({owners}) AND state IN ('IN_PROGRESS', 'UNCERTAIN')
            """;

    private final SqlRunner sql;
    private final CommandInserts inserts;

    public CommandStatements(SqlRunner sql, CommandInserts inserts) {
        this.sql = sql;
        this.inserts = inserts;
    }

    /** Claims in a transaction. Its writes may still be rolled back, and its snapshot may be older than the newest row. */
    CommandRecord claim(Connection connection, CommandClaim claim) throws SQLException {
        return claim(
                connection, claim, true, () -> inserts.insertCommand(connection, binder -> bindNew(binder, claim)));
    }

    /**
     * Claims by statements that commit by themselves.
     *
     * @param lockTimeout how long each statement may wait for a lock
     */
    CommandRecord claimAlone(Connection connection, CommandClaim claim, Duration lockTimeout) throws SQLException {
        return claim(
                connection,
                claim,
                false,
                () -> inserts.insertCommandAlone(
                        connection, claim.id(), binder -> bindNew(binder, claim), lockTimeout));
    }

    @FunctionalInterface
    private interface Insert {
        Optional<CommandRecord> run() throws SQLException;
    }

    private CommandRecord claim(Connection connection, CommandClaim claim, boolean inTransaction, Insert insert)
            throws SQLException {
        for (int race = 0; race < PURGE_RACES; race++) {
            Optional<CommandRecord> met = insert.run();
            Optional<CommandRecord> found = met.isPresent() ? met : find(connection, claim.id(), inTransaction);
            if (found.isPresent()) {
                return found.get();
            }
        }
        throw new SQLException("The command can neither be inserted nor found");
    }

    private static void bindNew(Binder binder, CommandClaim claim) throws SQLException {
        binder.bytes(claim.id().bytes());
        bindNames(binder, claim)
                .uuid(claim.owner())
                .micros(claim.lease())
                .micros(claim.lease())
                .flag(claim.uncertainIfLost())
                .bytes(claim.print().bytes())
                .integer(claim.print().version())
                .micros(claim.keyTtl());
    }

    private static Binder bindNames(Binder binder, CommandClaim claim) throws SQLException {
        return binder.uuid(claim.reference())
                .text(claim.names().operation())
                .text(claim.names().tenant())
                .text(claim.names().caller())
                .text(claim.names().keyPrefix());
    }

    Optional<CommandRecord> find(Connection connection, CommandId id, boolean inTransaction) throws SQLException {
        String select = inTransaction ? FIND + sql.kind().newestRead() : FIND;
        return sql.query(connection, select, binder -> binder.bytes(id.bytes()), rows -> CommandRow.first(rows, sql));
    }

    Optional<CommandRecord> take(Connection connection, CommandClaim claim, CommandRecord found, boolean inTransaction)
            throws SQLException {
        int met = found.isOver() ? restart(connection, claim, found) : retake(connection, claim, found);
        return met == 0
                ? Optional.empty()
                : find(connection, claim.id(), inTransaction)
                        .filter(row -> row.owner().token().equals(claim.owner()));
    }

    private int retake(Connection connection, CommandClaim claim, CommandRecord found) throws SQLException {
        return sql.update(
                connection,
                RETAKE,
                binder -> bindOwner(
                        binder.uuid(claim.owner())
                                .micros(claim.lease())
                                .micros(claim.lease())
                                .flag(claim.uncertainIfLost())
                                .micros(claim.keyTtl()),
                        found.owner()));
    }

    private int restart(Connection connection, CommandClaim claim, CommandRecord found) throws SQLException {
        return sql.update(
                connection,
                RESTART,
                binder -> bindOwner(
                        bindNames(binder, claim)
                                .uuid(claim.owner())
                                .micros(claim.lease())
                                .micros(claim.lease())
                                .flag(claim.uncertainIfLost())
                                .bytes(claim.print().bytes())
                                .integer(claim.print().version())
                                .micros(claim.keyTtl()),
                        found.owner()));
    }

    boolean complete(Connection connection, CommandOwner owner, CommandOutcome outcome) throws SQLException {
        StoredResult result = outcome.result();
        return sql.update(
                        connection,
                        COMPLETE,
                        binder -> bindOwner(
                                binder.text(outcome.rejected() ? "REJECTED" : "SUCCESS")
                                        .text(result.kind().name())
                                        .text(result.codec())
                                        .bytes(result.bytes())
                                        .text(outcome.reason())
                                        .flag(result.kind() == CommandOutcome.ResultKind.INLINE)
                                        .micros(outcome.resultTtl())
                                        .micros(outcome.keyTtl()),
                                owner))
                == 1;
    }

    boolean fail(Connection connection, CommandOwner owner, String error, int maxAttempts) throws SQLException {
        return sql.update(
                        connection,
                        FAIL,
                        binder -> bindOwner(
                                binder.integer(maxAttempts == 0 ? Integer.MAX_VALUE : maxAttempts)
                                        .text(error),
                                owner))
                == 1;
    }

    boolean markUncertain(Connection connection, CommandRecord found) throws SQLException {
        return sql.update(connection, MARK_UNCERTAIN, binder -> bindOwner(binder, found.owner())) == 1;
    }

    boolean startEffect(Connection connection, CommandOwner owner, boolean uncertainIfLost) throws SQLException {
        return sql.update(connection, START_EFFECT, binder -> bindOwner(binder.flag(uncertainIfLost), owner)) == 1;
    }

    boolean saveSteps(Connection connection, CommandOwner owner, byte[] steps) throws SQLException {
        return sql.update(connection, SAVE_STEPS, binder -> bindOwner(binder.bytes(steps), owner)) == 1;
    }

    private static void bindOwner(Binder binder, CommandOwner owner) throws SQLException {
        binder.bytes(owner.id().bytes()).uuid(owner.token()).number(owner.fence());
    }

    /**
     * Renews the leases of commands. Runs in one transaction.
     *
     * @return the owners that have lost their command
     */
    Set<CommandOwner> renew(Connection connection, Collection<CommandOwner> owners) throws SQLException {
        Set<CommandOwner> locked = owned(connection, LOCK_RENEWED, owners);
        if (!locked.isEmpty()) {
            List<byte[]> ids = ids(locked);
            String renew = RENEW.replace("{renewed}", sql.kind().later().replace("?", "lease_micros"));
            int met = sql.update(connection, ValueList.in(renew, ids.size()), binder -> bindIds(binder, ids));
            SqlRunner.expect(locked.size(), met, "renew commands");
        }
        Set<CommandOwner> lost = new HashSet<>(owners);
        lost.removeAll(locked);
        if (!lost.isEmpty()) {
            lost.removeAll(owned(connection, STILL_OWNED, lost));
        }
        return lost;
    }

    private Set<CommandOwner> owned(Connection connection, String select, Collection<CommandOwner> owners)
            throws SQLException {
        List<byte[]> ids = ids(owners);
        List<UUID> tokens = owners.stream().map(CommandOwner::token).toList();
        String statement =
                ValueList.in(select, ids.size()).replace("{owners}", ValueList.in("{values}", tokens.size()));
        Set<CommandOwner> found = sql.query(
                connection,
                statement,
                binder -> {
                    bindIds(binder, ids);
                    ValueList.bindUuids(binder, tokens);
                },
                this::owners);
        found.retainAll(new HashSet<>(owners));
        return found;
    }

    private Set<CommandOwner> owners(ResultSet rows) throws SQLException {
        Set<CommandOwner> owners = new HashSet<>();
        while (rows.next()) {
            owners.add(CommandRow.owner(rows, sql));
        }
        return owners;
    }

    private static List<byte[]> ids(Collection<CommandOwner> owners) {
        return owners.stream().map(owner -> owner.id().bytes()).toList();
    }

    static void bindIds(Binder binder, List<byte[]> ids) throws SQLException {
        for (byte @Nullable [] id : ValueList.padded(ids)) {
            binder.bytes(id);
        }
    }
}
