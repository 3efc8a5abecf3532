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
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs the statements of commands on a connection, whoever's it is. Thread-safe. */
final class CommandStatements {

    /** How often a row may be purged between finding it there and reading it, before something else is wrong. */
    private static final int PURGE_RACES = 5;

    private final Dialect dialect;

    CommandStatements(Dialect dialect) {
        this.dialect = dialect;
    }

    /** @param inTransaction whether what is written may still be rolled back, and what is read be older than the newest */
    CommandRecord claim(Connection connection, CommandClaim claim, boolean inTransaction) throws SQLException {
        for (int race = 0; race < PURGE_RACES; race++) {
            Optional<CommandRecord> met =
                    dialect.insertCommand(connection, claim.id(), binder -> bindNew(binder, claim), inTransaction);
            Optional<CommandRecord> found = met.isPresent() ? met : find(connection, claim.id(), inTransaction);
            if (found.isPresent()) {
                return found.get();
            }
        }
        throw new SQLException("The command is neither there nor can it be inserted");
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

    boolean doubt(Connection connection, CommandRecord found) throws SQLException {
        return dialect.update(connection, CommandSql.DOUBT, binder -> bindOwner(binder, found.owner())) == 1;
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

    /** In one transaction. Answers those that are lost. */
    Set<CommandOwner> renew(Connection connection, Collection<CommandOwner> owners) throws SQLException {
        Set<CommandOwner> held = owned(connection, CommandSql.LOCK_RENEWED, owners);
        if (!held.isEmpty()) {
            List<byte[]> ids = ids(held);
            String renew = CommandSql.RENEW.replace("{renewed}", dialect.later().replace("?", "lease_micros"));
            int met = dialect.update(connection, LockingDialect.in(renew, ids.size()), binder -> bindIds(binder, ids));
            LockingDialect.expect(held.size(), met, "renew commands");
        }
        Set<CommandOwner> lost = new HashSet<>(owners);
        lost.removeAll(held);
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

    /** Locks up to so many rows and changes them; says how many. */
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
