package dev.postrider.jdbc;

import dev.postrider.admin.Change;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.admin.StoredCommand;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/** Lists commands and resolves them over JDBC. Thread-safe. */
final class JdbcCommandAdmin implements CommandAdmin {

    private static final String COLUMNS =
            "SELECT reference, operation, tenant, caller, key_prefix, state, effect_started, attempts, reason, created_at,"
                    + " updated_at, lease_until, key_expires_at, {now} AS read_at FROM {command} ";

    static final String UNCERTAIN = COLUMNS + "WHERE state = 'UNCERTAIN' ORDER BY created_at LIMIT ?";

    private static final String STUCK =
            COLUMNS + "WHERE state = 'IN_PROGRESS' AND lease_until <= {now} ORDER BY created_at LIMIT ?";

    static final String FIND = COLUMNS + "WHERE reference = ?";

    private static final String OPEN =
            " WHERE reference = ? AND (state = 'UNCERTAIN' OR state = 'IN_PROGRESS' AND lease_until <= {now})";

    /** Raises the fence and sets a token without an owner, so that a former owner that is still alive cannot complete the command. */
    static final String COMPLETE = """
            UPDATE {command}
            SET state = 'COMPLETED', outcome = 'SUCCESS', result_kind = 'DROPPED', owner = ?, fence = fence + 1, steps = NULL,
                updated_at = {now}, completed_at = {now},
                key_expires_at = CASE WHEN key_expires_at > {later} THEN key_expires_at ELSE {later} END
            """ + OPEN;

    private static final String FAIL =
            "UPDATE {command} SET state = 'FAILED', owner = ?, fence = fence + 1, updated_at = {now}" + OPEN;

    static final String RELEASE = "DELETE FROM {command}" + OPEN;

    static final String AUDIT = "INSERT INTO {audit} (at, operator, action, namespace, topic, message_id, reason)"
            + " VALUES ({now}, ?, ?, 'command', ?, ?, ?)";

    private static final int LIST_LIMIT = 1000;

    private static final long DAY_MICROS = 86_400_000_000L;

    private final Sessions sessions;
    private final SqlRunner sql;
    private final Supplier<UUID> ids;

    JdbcCommandAdmin(Sessions sessions, SqlRunner sql, Supplier<UUID> ids) {
        this.sessions = sessions;
        this.sql = sql;
        this.ids = ids;
    }

    @Override
    public List<StoredCommand> uncertain(int limit) {
        return list(UNCERTAIN, limit);
    }

    @Override
    public List<StoredCommand> stuck(int limit) {
        return list(STUCK, limit);
    }

    private List<StoredCommand> list(String select, int limit) {
        if (limit < 1 || limit > LIST_LIMIT) {
            throw new InvalidConfigurationException("limit", "must be 1 to " + LIST_LIMIT + ", but is " + limit);
        }
        return sessions.statement(
                "list commands",
                connection -> sql.query(connection, select, binder -> binder.integer(limit), this::commands));
    }

    @Override
    public Optional<StoredCommand> find(UUID reference) {
        return sessions.statement("find a command", connection -> find(connection, reference));
    }

    private Optional<StoredCommand> find(Connection connection, UUID reference) throws SQLException {
        return sql.query(connection, FIND, binder -> binder.uuid(reference), this::commands).stream()
                .findFirst();
    }

    private List<StoredCommand> commands(ResultSet row) throws SQLException {
        List<StoredCommand> commands = new ArrayList<>();
        while (row.next()) {
            StoredCommand.State state = StoredCommand.State.valueOf(row.getString("state"));
            Instant leaseUntil = time(row, "lease_until");
            boolean stuck = state == StoredCommand.State.IN_PROGRESS && !leaseUntil.isAfter(time(row, "read_at"));
            commands.add(new StoredCommand(
                    sql.readUuid(row, "reference"),
                    row.getString("operation"),
                    row.getString("tenant"),
                    row.getString("caller"),
                    row.getString("key_prefix"),
                    state,
                    stuck,
                    row.getBoolean("effect_started"),
                    row.getInt("attempts"),
                    row.getString("reason"),
                    time(row, "created_at"),
                    time(row, "updated_at"),
                    leaseUntil,
                    time(row, "key_expires_at")));
        }
        return commands;
    }

    private Instant time(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(sql.readTime(row, column), column);
    }

    /** The change is conditional, so two concurrent operators make one change and one audit entry. */
    @Override
    public Resolved resolve(UUID reference, Resolution resolution, Change change) {
        OperatorName.check(change.operator());
        return sessions.transaction("resolve a command", connection -> {
            Optional<StoredCommand> found = find(connection, reference);
            if (found.isEmpty()) {
                return Resolved.NOT_FOUND;
            }
            if (change(connection, reference, resolution) == 0) {
                return Resolved.NOT_OPEN;
            }
            sql.update(
                    connection,
                    AUDIT,
                    binder -> binder.text(change.operator())
                            .text("COMMAND_" + resolution.name())
                            .text(found.get().operation())
                            .uuid(reference)
                            .text(change.reason()));
            return Resolved.DONE;
        });
    }

    private int change(Connection connection, UUID reference, Resolution resolution) throws SQLException {
        UUID noOwner = ids.get();
        return switch (resolution) {
            case COMPLETED ->
                sql.update(
                        connection,
                        COMPLETE,
                        binder -> binder.uuid(noOwner)
                                .number(DAY_MICROS)
                                .number(DAY_MICROS)
                                .uuid(reference));
            case FAILED ->
                sql.update(connection, FAIL, binder -> binder.uuid(noOwner).uuid(reference));
            case RELEASED -> sql.update(connection, RELEASE, binder -> binder.uuid(reference));
        };
    }
}
