package dev.postrider.jdbc;

import dev.postrider.internal.store.CommandId;
import dev.postrider.jdbc.SimulatedSql.Answer;
import dev.postrider.jdbc.SimulatedSql.Parameters;
import dev.postrider.jdbc.command.CommandStatements;
import dev.postrider.jdbc.command.CommandSweep;
import dev.postrider.jdbc.command.PostgresCommandInserts;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the statements of {@link CommandStatements} and {@link CommandSweep} do to the simulated command table. An insert waits for the
 * transaction that has changed the same key; an update waits too, and then decides again by the new row.
 */
class SimulatedCommands {

    final SimulatedDatabase database;
    private final CommandTable table;

    SimulatedCommands(SimulatedDatabase database) {
        this.database = database;
        this.table = new CommandTable(database);
    }

    /** Whose ownership a statement is conditional on. */
    record Owner(CommandId id, UUID token, long fence) {

        static Owner of(Parameters parameters) {
            return new Owner(
                    new CommandId(Objects.requireNonNull(parameters.bytes())), parameters.uuid(), parameters.number());
        }
    }

    final void addTo(SimulatedSql known, SqlRunner sql) {
        known.add(
                PostgresCommandInserts.INSERT_COMMAND,
                "claim a command",
                (session, transaction, parameters) -> insert(session, transaction, parameters, false));
        known.add(
                PostgresCommandInserts.INSERT_OR_FIND_COMMAND,
                "claim a command",
                (session, transaction, parameters) -> insert(session, transaction, parameters, true));
        known.add(
                CommandStatements.FIND,
                "find a command",
                (session, transaction, parameters) -> Answer.rows(table.rows(table.seen(transaction, id(parameters)))));
        known.add(CommandStatements.RETAKE, "take a command over", this::retake);
        known.add(CommandStatements.RESTART, "use a key anew", this::restart);
        known.add(CommandStatements.COMPLETE, "complete a command", this::complete);
        known.add(CommandStatements.FAIL, "give a command back", this::fail);
        known.add(CommandStatements.MARK_UNCERTAIN, "call a command uncertain", this::markUncertain);
        known.add(CommandStatements.START_EFFECT, "note an effect", this::startEffect);
        known.add(CommandStatements.SAVE_STEPS, "keep a step", this::saveSteps);
        addRenewal(known, sql);
        addSweep(known);
        new SimulatedCommandAdmin(database).addTo(known);
    }

    private void addRenewal(SimulatedSql known, SqlRunner sql) {
        known.add(CommandStatements.LOCK_RENEWED, "lock commands", this::lockRenewed);
        String renew =
                CommandStatements.RENEW.replace("{renewed}", sql.kind().later().replace("?", "lease_micros"));
        known.add(
                renew,
                "renew commands",
                (session, transaction, parameters) ->
                        changeAll(session, transaction, ids(parameters), CommandState::isInProgress, this::renew));
        known.add(CommandStatements.STILL_OWNED, "look for commands", this::stillOwned);
    }

    private void addSweep(SimulatedSql known) {
        Predicate<CommandState> old = row -> row.resultUntil != null && row.resultUntil <= database.micros();
        Predicate<CommandState> over = row -> row.isOver(database.micros());
        Predicate<CommandState> lost = row -> row.isLost(database.micros());
        known.add(CommandSweep.LOCK_OLD_RESULTS, "look for old results", lockFirst(old));
        known.add(
                CommandSweep.DROP_RESULTS,
                "drop results",
                (session, transaction, parameters) -> changeAll(session, transaction, ids(parameters), old, row -> {
                    row.forgetResult();
                    row.resultKind = "DROPPED";
                }));
        known.add(CommandSweep.LOCK_OLD_KEYS, "look for old keys", lockFirst(over));
        known.add(CommandSweep.DELETE_KEYS, "remove keys", (session, transaction, parameters) -> {
            int removed = 0;
            for (CommandId id : ids(parameters)) {
                removed += table.delete(session, transaction, id, over) ? 1 : 0;
            }
            return new Answer(List.of(), removed);
        });
        known.add(CommandSweep.LOCK_LOST, "look for lost commands", lockFirst(this::isToBeDoubted));
        known.add(
                CommandSweep.DOUBT_LOST,
                "call commands uncertain",
                (session, transaction, parameters) ->
                        changeAll(session, transaction, ids(parameters), lost, row -> row.state = "UNCERTAIN"));
    }

    boolean isToBeDoubted(CommandState row) {
        return row.isLost(database.micros());
    }

    // What the rows go through

    private Answer insert(Session session, Transaction transaction, Parameters values, boolean orFind)
            throws SQLException {
        CommandId id = id(values);
        List<Map<String, @Nullable Object>> there = orFind ? table.rows(table.seen(transaction, id)) : List.of();
        CommandState row = named(new CommandState(id, values.uuid(), new UUID(0, 0)), values);
        row.owner = values.uuid();
        lease(row, values);
        print(row, values);
        row.keyUntil = database.micros() + values.number();
        session.meanwhile(transaction);
        return Answer.rows(table.insert(transaction, row) ? table.rows(row) : there);
    }

    private static CommandState named(CommandState row, Parameters values) {
        for (String name : List.of("operation", "tenant", "caller", "key_prefix")) {
            row.names.put(name, values.text());
        }
        return row;
    }

    private void lease(CommandState row, Parameters values) {
        row.lease = values.number();
        row.leaseUntil = database.micros() + values.number();
        row.uncertainIfLost = values.flag();
        row.effectStarted = false;
    }

    private static void print(CommandState row, Parameters values) {
        row.fingerprint = Objects.requireNonNull(values.bytes());
        row.fingerprintVersion = (int) values.number();
    }

    private Answer retake(Session session, Transaction transaction, Parameters values) throws SQLException {
        UUID owner = values.uuid();
        long lease = values.number();
        values.number();
        boolean uncertain = values.flag();
        long keyTtl = values.number();
        return change(
                session,
                transaction,
                Owner.of(values),
                row -> row.state.equals("FAILED") || row.isAbandoned(database.micros()),
                row -> {
                    hand(row, owner);
                    row.state = "IN_PROGRESS";
                    row.lease = lease;
                    row.leaseUntil = database.micros() + lease;
                    row.uncertainIfLost = uncertain;
                    row.effectStarted = false;
                    row.attempts++;
                    row.reason = null;
                    row.keyUntil = database.micros() + keyTtl;
                });
    }

    /** To another owner. */
    void hand(CommandState row, UUID owner) {
        row.owner = owner;
        row.fence++;
    }

    private Answer restart(Session session, Transaction transaction, Parameters values) throws SQLException {
        CommandState anew = named(new CommandState(new CommandId(new byte[32]), values.uuid(), new UUID(0, 0)), values);
        UUID owner = values.uuid();
        lease(anew, values);
        print(anew, values);
        long keyTtl = values.number();
        return change(session, transaction, Owner.of(values), row -> row.isOver(database.micros()), row -> {
            hand(row, owner);
            row.names.putAll(anew.names);
            row.reference = anew.reference;
            row.state = "IN_PROGRESS";
            row.lease = anew.lease;
            row.leaseUntil = anew.leaseUntil;
            row.uncertainIfLost = anew.uncertainIfLost;
            row.effectStarted = false;
            row.attempts = 1;
            row.fingerprint = anew.fingerprint;
            row.fingerprintVersion = anew.fingerprintVersion;
            row.steps = null;
            row.outcome = null;
            row.resultKind = null;
            row.reason = null;
            row.forgetResult();
            row.keyUntil = database.micros() + keyTtl;
        });
    }

    Answer complete(Session session, Transaction transaction, Parameters values) throws SQLException {
        String outcome = values.text();
        String kind = values.text();
        String codec = values.text();
        byte[] result = values.bytes();
        String reason = values.text();
        boolean kept = values.flag();
        long resultTtl = values.number();
        long keyTtl = values.number();
        Owner owner = Owner.of(values);
        return change(session, transaction, owner, CommandState::isOpen, row -> {
            database.ended("complete a command", row, owner.token());
            row.state = "COMPLETED";
            row.outcome = outcome;
            row.resultKind = kind;
            row.codec = codec;
            row.result = result;
            row.reason = reason;
            row.steps = null;
            row.resultUntil = kept ? database.micros() + resultTtl : null;
            row.keyUntil = database.micros() + keyTtl;
        });
    }

    private Answer fail(Session session, Transaction transaction, Parameters values) throws SQLException {
        long most = values.number();
        String reason = values.text();
        Owner owner = Owner.of(values);
        return change(session, transaction, owner, CommandState::isOpen, row -> {
            database.ended("give a command back", row, owner.token());
            row.state = row.attempts >= most ? "UNCERTAIN" : "FAILED";
            row.reason = reason;
        });
    }

    private Answer markUncertain(Session session, Transaction transaction, Parameters values) throws SQLException {
        return change(
                session,
                transaction,
                Owner.of(values),
                row -> row.isInProgress() && row.leaseUntil <= database.micros(),
                row -> row.state = "UNCERTAIN");
    }

    /** What a row says of a command whose effect has begun. */
    boolean isUncertain(boolean uncertainIfLost) {
        return uncertainIfLost;
    }

    private Answer startEffect(Session session, Transaction transaction, Parameters values) throws SQLException {
        boolean uncertain = values.flag();
        return change(session, transaction, Owner.of(values), CommandState::isInProgress, row -> {
            row.effectStarted = true;
            row.uncertainIfLost = isUncertain(uncertain);
        });
    }

    private Answer saveSteps(Session session, Transaction transaction, Parameters values) throws SQLException {
        byte[] steps = values.bytes();
        return change(session, transaction, Owner.of(values), CommandState::isInProgress, row -> row.steps = steps);
    }

    void renew(CommandState row) {
        row.leaseUntil = database.micros() + row.lease;
    }

    /** Passes over what is locked. */
    private Answer lockRenewed(Session session, Transaction transaction, Parameters values) throws SQLException {
        Set<CommandId> ids = new LinkedHashSet<>(ids(values, values.count() / 2));
        Set<UUID> owners = owners(values, values.count() / 2);
        return Answer.rows(table.lockFree(
                session,
                transaction,
                row -> ids.contains(row.id) && owners.contains(row.owner) && row.isInProgress(),
                Integer.MAX_VALUE));
    }

    private Answer stillOwned(Session session, Transaction transaction, Parameters values) {
        Set<CommandId> ids = new LinkedHashSet<>(ids(values, values.count() / 2));
        Set<UUID> owners = owners(values, values.count() / 2);
        return Answer.rows(table.rowsWhere(
                transaction, row -> ids.contains(row.id) && owners.contains(row.owner) && row.isOpen()));
    }

    private SimulatedSql.Effect lockFirst(Predicate<CommandState> condition) {
        return (session, transaction, values) ->
                Answer.rows(table.lockFree(session, transaction, condition, (int) values.number()));
    }

    // Parameters

    private static CommandId id(Parameters values) {
        return new CommandId(Objects.requireNonNull(values.bytes()));
    }

    private static List<CommandId> ids(Parameters values) {
        return ids(values, values.count());
    }

    private static List<CommandId> ids(Parameters values, int count) {
        Set<CommandId> ids = new LinkedHashSet<>();
        for (int i = 0; i < count; i++) {
            ids.add(id(values));
        }
        return List.copyOf(ids);
    }

    private static Set<UUID> owners(Parameters values, int count) {
        Set<UUID> owners = new LinkedHashSet<>();
        for (int i = 0; i < count; i++) {
            owners.add(values.uuid());
        }
        return owners;
    }

    boolean isOwned(CommandState row, Owner owner) {
        return row.owner.equals(owner.token()) && row.fence == owner.fence();
    }

    private Answer change(
            Session session,
            Transaction transaction,
            Owner owner,
            Predicate<CommandState> condition,
            Consumer<CommandState> change)
            throws SQLException {
        return Answer.changed(table.update(
                session, transaction, owner.id(), row -> isOwned(row, owner) && condition.test(row), change));
    }

    private Answer changeAll(
            Session session,
            Transaction transaction,
            List<CommandId> ids,
            Predicate<CommandState> condition,
            Consumer<CommandState> change)
            throws SQLException {
        return new Answer(List.of(), table.updateAll(session, transaction, ids, condition, change));
    }
}
