package dev.postrider.jdbc;

import dev.postrider.store.CommandClaim;
import dev.postrider.store.CommandId;
import dev.postrider.store.CommandOutcome;
import dev.postrider.store.CommandOutcome.StoredResult;
import dev.postrider.store.CommandOwner;
import dev.postrider.store.CommandRecord;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs the statements of commands on a connection of the store or of the caller. Thread-safe. */
final class CommandStatements {

    /** How often a row may be purged between the insert that met it and the read. More often means another fault. */
    private static final int PURGE_RACES = 5;

    private final Dialect dialect;

    CommandStatements(Dialect dialect) {
        this.dialect = dialect;
    }

    /** Claims in a transaction. Its writes may still be rolled back, and its snapshot may be older than the newest row. */
    CommandRecord claim(Connection connection, CommandClaim claim) throws SQLException {
        return claim(
                connection, claim, true, () -> dialect.insertCommand(connection, binder -> bindNew(binder, claim)));
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
                () -> dialect.insertCommandAlone(
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
        String select = inTransaction ? CommandSql.FIND + dialect.newestRead() : CommandSql.FIND;
        return dialect.query(
                connection, select, binder -> binder.bytes(id.bytes()), rows -> CommandRow.first(rows, dialect));
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
        return dialect.update(
                connection,
                CommandSql.RETAKE,
                binder -> bindOwner(
                        binder.uuid(claim.owner())
                                .micros(claim.lease())
                                .micros(claim.lease())
                                .flag(claim.uncertainIfLost())
                                .micros(claim.keyTtl()),
                        found.owner()));
    }

    private int restart(Connection connection, CommandClaim claim, CommandRecord found) throws SQLException {
        return dialect.update(
                connection,
                CommandSql.RESTART,
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
        return dialect.update(
                        connection,
                        CommandSql.COMPLETE,
                        binder -> bindOwner(
                                binder.text(outcome.rejected() ? "REJECTED" : "SUCCESS")
                                        .text(result.kind().name())
                                        .text(result.codec())
                                        .bytes(result.bytes())
                                        .text(outcome.reason())
                                        .flag(result.kind() == CommandOutcome.Kind.INLINE)
                                        .micros(outcome.resultTtl())
                                        .micros(outcome.keyTtl()),
                                owner))
                == 1;
    }

    boolean fail(Connection connection, CommandOwner owner, String error, int maxAttempts) throws SQLException {
        return dialect.update(
                        connection,
                        CommandSql.FAIL,
                        binder -> bindOwner(
                                binder.integer(maxAttempts == 0 ? Integer.MAX_VALUE : maxAttempts)
                                        .text(error),
                                owner))
                == 1;
    }

    boolean markUncertain(Connection connection, CommandRecord found) throws SQLException {
        return dialect.update(connection, CommandSql.MARK_UNCERTAIN, binder -> bindOwner(binder, found.owner())) == 1;
    }

    boolean startEffect(Connection connection, CommandOwner owner, boolean uncertainIfLost) throws SQLException {
        return dialect.update(
                        connection, CommandSql.START_EFFECT, binder -> bindOwner(binder.flag(uncertainIfLost), owner))
                == 1;
    }

    boolean saveSteps(Connection connection, CommandOwner owner, byte[] steps) throws SQLException {
        return dialect.update(connection, CommandSql.SAVE_STEPS, binder -> bindOwner(binder.bytes(steps), owner)) == 1;
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
        Set<CommandOwner> locked = owned(connection, CommandSql.LOCK_RENEWED, owners);
        if (!locked.isEmpty()) {
            List<byte[]> ids = ids(locked);
            String renew = CommandSql.RENEW.replace("{renewed}", dialect.later().replace("?", "lease_micros"));
            int met = dialect.update(connection, LockingDialect.in(renew, ids.size()), binder -> bindIds(binder, ids));
            LockingDialect.expect(locked.size(), met, "renew commands");
        }
        Set<CommandOwner> lost = new HashSet<>(owners);
        lost.removeAll(locked);
        if (!lost.isEmpty()) {
            lost.removeAll(owned(connection, CommandSql.STILL_OWNED, lost));
        }
        return lost;
    }

    private Set<CommandOwner> owned(Connection connection, String select, Collection<CommandOwner> owners)
            throws SQLException {
        List<byte[]> ids = ids(owners);
        List<UUID> tokens = owners.stream().map(CommandOwner::token).toList();
        String sql =
                LockingDialect.in(select, ids.size()).replace("{owners}", LockingDialect.in("{values}", tokens.size()));
        Set<CommandOwner> found = dialect.query(
                connection,
                sql,
                binder -> {
                    bindIds(binder, ids);
                    for (UUID token : LockingDialect.padded(tokens)) {
                        binder.uuid(token);
                    }
                },
                this::owners);
        found.retainAll(new HashSet<>(owners));
        return found;
    }

    private Set<CommandOwner> owners(ResultSet rows) throws SQLException {
        Set<CommandOwner> owners = new HashSet<>();
        while (rows.next()) {
            owners.add(CommandRow.owner(rows, dialect));
        }
        return owners;
    }

    private static List<byte[]> ids(Collection<CommandOwner> owners) {
        return owners.stream().map(owner -> owner.id().bytes()).toList();
    }

    /**
     * Locks up to {@code limit} rows and changes them.
     *
     * @return how many rows were changed
     */
    int sweep(Connection connection, String lock, String change, int limit) throws SQLException {
        List<byte[]> ids = dialect.query(connection, lock, binder -> binder.integer(limit), rows -> {
            List<byte[]> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getBytes("id"));
            }
            return found;
        });
        return ids.isEmpty()
                ? 0
                : dialect.update(connection, LockingDialect.in(change, ids.size()), binder -> bindIds(binder, ids));
    }

    private static void bindIds(Binder binder, List<byte[]> ids) throws SQLException {
        for (byte @Nullable [] id : LockingDialect.padded(ids)) {
            binder.bytes(id);
        }
    }
}
