package dev.postrider.jdbc.command;

import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandOutcome.ResultKind;
import dev.postrider.internal.store.CommandOutcome.StoredResult;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandPrint;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the row of a command. */
public final class CommandRow {

    /** The columns that this class reads. */
    static final String COLUMNS =
            "id, reference, state, owner, fence, fingerprint, fingerprint_version, attempts, uncertain_if_lost, outcome,"
                    + " result_kind, result_codec, result, reason, steps, lease_until, key_expires_at, result_expires_at,"
                    + " {now} AS read_at";

    private final ResultSet row;
    private final SqlRunner sql;

    private CommandRow(ResultSet row, SqlRunner sql) {
        this.row = row;
        this.sql = sql;
    }

    public static Optional<CommandRecord> first(ResultSet rows, SqlRunner sql) throws SQLException {
        return rows.next() ? Optional.of(new CommandRow(rows, sql).read()) : Optional.empty();
    }

    static CommandOwner owner(ResultSet row, SqlRunner sql) throws SQLException {
        return new CommandOwner(new CommandId(row.getBytes("id")), sql.readUuid(row, "owner"), row.getLong("fence"));
    }

    private CommandRecord read() throws SQLException {
        Instant now = time("read_at");
        byte[] steps = row.getBytes("steps");
        Instant resultEnd = sql.readTime(row, "result_expires_at");
        return new CommandRecord(
                owner(row, sql),
                sql.readUuid(row, "reference"),
                CommandRecord.State.valueOf(row.getString("state")),
                new CommandPrint(row.getInt("fingerprint_version"), row.getBytes("fingerprint")),
                row.getInt("attempts"),
                row.getBoolean("uncertain_if_lost"),
                ended(),
                steps == null ? null : new CommandRecord.Steps(steps),
                Duration.between(now, time("lease_until")),
                Duration.between(now, time("key_expires_at")),
                resultEnd == null ? null : Duration.between(now, resultEnd),
                now);
    }

    private CommandRecord.@Nullable Ended ended() throws SQLException {
        String outcome = row.getString("outcome");
        if (outcome == null) {
            return null;
        }
        ResultKind kind = ResultKind.valueOf(row.getString("result_kind"));
        byte[] bytes = row.getBytes("result");
        StoredResult result = kind == ResultKind.INLINE && bytes != null
                ? StoredResult.inline(row.getString("result_codec"), bytes)
                : StoredResult.without(kind == ResultKind.INLINE ? ResultKind.DROPPED : kind);
        String reason = row.getString("reason");
        return new CommandRecord.Ended(outcome.equals("REJECTED"), result, reason == null ? "" : reason);
    }

    private Instant time(String column) throws SQLException {
        return Objects.requireNonNull(sql.readTime(row, column), column);
    }
}
