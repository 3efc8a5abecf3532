package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.IdleLimit;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** Locks and removes handled messages on MySQL, MariaDB and H2. In braces: table names, and {@code {values}} for a list of parameters. */
final class InnoDbHandling implements HandlingStatements {

    /** Rows to be handled. The caller checks the id, the token and the state of each row. */
    static final String HANDLED =
            "SELECT seq, id, lease_token, state, CONNECTION_ID() AS session_id, '' AS session_transaction FROM {message} FORCE INDEX (PRIMARY)"
                    + " WHERE seq IN ({values}) ORDER BY seq";

    private final SqlRunner sql;

    InnoDbHandling(SqlRunner sql) {
        this.sql = sql;
    }

    /** Ignores the idle limit: {@link IdleLimit} sets it on the session before, where the database has one. */
    @Override
    public LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException {
        return handled(connection, rows, " FOR UPDATE SKIP LOCKED");
    }

    @Override
    public Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException {
        return handled(connection, rows, "").seqs();
    }

    private LockedRows handled(Connection connection, List<HandledRow> rows, String lock) throws SQLException {
        Map<Long, HandledRow> wanted = new HashMap<>();
        rows.forEach(row -> wanted.put(row.seq(), row));
        String select = HANDLED + lock;
        return sql.query(
                connection,
                ValueList.in(select, rows.size()),
                binder -> ValueList.bindNumbers(
                        binder, rows.stream().map(HandledRow::seq).toList()),
                found -> {
                    Set<Long> met = new TreeSet<>();
                    SessionStatements.ServerSession session = null;
                    while (found.next()) {
                        session = SessionStatements.ServerSession.read(found);
                        HandledRow row = wanted.get(found.getLong("seq"));
                        if (row != null && row.equals(asFound(found, row.states()))) {
                            met.add(row.seq());
                        }
                    }
                    return new LockedRows(met, session);
                });
    }

    private HandledRow asFound(ResultSet row, Set<RowState> wanted) throws SQLException {
        UUID token = row.getBytes("lease_token") == null ? null : sql.readUuid(row, "lease_token");
        RowState state = RowState.read(row);
        return new HandledRow(
                row.getLong("seq"), sql.readUuid(row, "id"), token, wanted.contains(state) ? wanted : Set.of(state));
    }

    @Override
    public RemovedRows removeHandled(
            Connection connection, List<HandledRow> rows, TableOptions.Archive archive, Duration idle)
            throws SQLException {
        LockedRows locked = lockHandled(connection, rows, idle);
        Set<Long> met = locked.seqs();
        if (archive != TableOptions.Archive.OFF) {
            boolean inLanes = rows.get(0).token() == null;
            boolean withPayload = archive == TableOptions.Archive.FULL;
            sql.change(
                    connection,
                    inLanes ? InnoDbLaneOutcomes.COPY : InnoDbOutcomes.COPY,
                    met,
                    "archive messages",
                    binder -> binder.flag(withPayload));
        }
        sql.change(connection, InnoDbOutcomes.DELETE, met, "delete handled messages", binder -> {});
        return new RemovedRows(met.size(), locked.session());
    }

    @Override
    public Map<Long, UUID> presentAfterLocks(Connection connection, Collection<Long> seqs) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(InnoDbOutcomes.PRESENT + " FOR UPDATE", seqs.size()),
                binder -> ValueList.bindNumbers(binder, seqs),
                sql::numbersWithIds);
    }
}
