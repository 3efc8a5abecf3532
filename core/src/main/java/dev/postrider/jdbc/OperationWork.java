package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one step of a background operation, and their change in one transaction. A step has messages that follow each other in the
 * order of the filter, so that its end is a place to continue from: at most 500, of which 50 of lanes, because their lanes stay locked until
 * the end of the transaction. Stateless, thread-safe.
 */
final class OperationWork {

    /**
     * The messages of a step.
     *
     * @param found how many there are
     * @param next the cursor behind them; null at the end
     * @param change changes those that are free and still selected, and returns how many
     */
    record StepWork(int found, @Nullable String next, StepChange change) {}

    /** Changes the messages of a step in the transaction of the caller. */
    @FunctionalInterface
    interface StepChange {
        int in(Connection connection) throws SQLException;
    }

    private final Sessions sessions;
    private final SqlRunner sql;
    private final MessageSearch search;
    private final MessageActions actions;
    private final FilteredActions filtered;
    private final FilteredRedelivery redelivery;
    private final LaneKeys lanes;

    OperationWork(Sessions sessions, SqlRunner sql, MessageSearch search, AuditLog audit) {
        this.sessions = sessions;
        this.sql = sql;
        this.search = search;
        this.actions = new MessageActions(sql, new BlockedKeys(sql), audit);
        this.filtered = new FilteredActions(sessions, sql, search, actions, audit);
        this.redelivery = new FilteredRedelivery(sessions, sql, new MessageLists(sql, search), audit);
        this.lanes = new LaneKeys(sql);
    }

    /**
     * Finds the messages of the next step.
     *
     * @throws IllegalArgumentException if this version cannot read the filter
     */
    StepWork find(OperationRow row) {
        Action action = row.operation().action();
        return action.isRedelivery() ? delivered(row, action) : live(row, action);
    }

    private StepWork delivered(OperationRow row, Action action) {
        MessagePage page = redelivery.find(
                row.filter(), FilteredRedelivery.start(row.reached()), row.room(FilteredRedelivery.STEP));
        List<Redelivery.ArchivePlace> places = Redelivery.places(page.messages());
        return new StepWork(places.size(), page.next(), connection -> redelivery.step(connection, action, places));
    }

    private StepWork live(OperationRow row, Action action) {
        Filter filter = row.filter();
        @Nullable Long after = MessageCursor.parse(row.reached()).seq();
        return sessions.transaction("find messages", connection -> {
            search.begin(connection);
            MessageConditions conditions = MessageConditions.of(connection, sql, filter);
            MessageSearch.FoundPage page =
                    search.find(connection, conditions, after, false, row.room(FilteredActions.STEP));
            List<Long> seqs = page.seqs();
            List<MessageActions.ActionRow> rows = seqs.isEmpty() ? List.of() : actions.rows(connection, seqs);
            Optional<Long> last = lastOfStep(rows);
            if (last.isPresent()) {
                seqs = seqs.stream().filter(seq -> seq <= last.get()).toList();
            }
            @Nullable Long next = last.isPresent() ? last.get() : page.next();
            List<MessageActions.ActionRow> part = rows.stream()
                    .filter(found -> last.isEmpty() || found.seq() <= last.get())
                    .toList();
            return new StepWork(
                    seqs.size(),
                    next == null ? null : MessageCursor.live(next).toString(),
                    inStep -> change(inStep, action, filter, part));
        });
    }

    /** Returns the last message of lanes that the step may have, if there are more. */
    private static Optional<Long> lastOfStep(List<MessageActions.ActionRow> rows) {
        return rows.stream()
                .filter(row -> row.inLane() != null)
                .skip(FilteredActions.IN_LANE)
                .findFirst()
                .map(first -> first.seq() - 1);
    }

    private int change(Connection connection, Action action, Filter filter, List<MessageActions.ActionRow> rows)
            throws SQLException {
        MessageConditions conditions = MessageConditions.of(connection, sql, filter);
        List<Long> unordered = new ArrayList<>();
        Map<FilteredActions.LaneNumber, List<LaneKeys.Row>> inLanes = new TreeMap<>();
        for (MessageActions.ActionRow row : rows) {
            LaneKeys.Row inLane = row.inLane();
            if (inLane == null) {
                unordered.add(row.seq());
            } else {
                inLanes.computeIfAbsent(
                                new FilteredActions.LaneNumber(inLane.topicId(), inLane.lane()),
                                lane -> new ArrayList<>())
                        .add(inLane);
            }
        }
        int changed = unordered.isEmpty()
                ? 0
                : actions.unordered(connection, action, filtered.lock(connection, conditions, unordered));
        boolean mayWait = true;
        for (Map.Entry<FilteredActions.LaneNumber, List<LaneKeys.Row>> lane : inLanes.entrySet()) {
            if (lock(connection, lane.getKey(), mayWait)) {
                changed += filtered.inLockedLane(connection, action, conditions, lane.getValue());
            } else {
                mayWait = false; // the lanes before are locked meanwhile
            }
        }
        return changed;
    }

    /** Returns false if another session keeps the lane locked. Its messages are skipped. */
    private boolean lock(Connection connection, FilteredActions.LaneNumber lane, boolean mayWait) throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            return lanes.lock(connection, lane.topicId(), lane.lane(), mayWait);
        } catch (SQLException e) {
            if (!SqlErrors.isLockTimeout(e)) {
                throw e;
            }
            connection.rollback(before);
            return false;
        }
    }
}
