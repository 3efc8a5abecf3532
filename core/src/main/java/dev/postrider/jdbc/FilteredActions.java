package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Operators' actions on all messages that a filter selects, in steps. Each step finds some messages and changes them in transactions of
 * bounded size: those of unordered topics in one, those of ordered topics in one for each lane. A transaction locks its messages if they
 * are free and still selected. Thread-safe.
 */
final class FilteredActions {

    private static final Logger log = LoggerFactory.getLogger(FilteredActions.class);

    static final int STEP = 500;

    /** A transaction keeps its lane locked, which delays the lane's outcomes. */
    static final int IN_LANE = 50;

    /** Bounds the work of a call whose filter selects few of many messages. */
    private static final int SEARCHES = 100;

    private static final int SAMPLE = 10;

    private static final String LOCK = """
            SELECT m.seq FROM {message} m{by key}
            WHERE m.seq IN ({values}) AND CASE WHEN {matches} THEN 1 ELSE 0 END = 1
            ORDER BY m.seq FOR UPDATE SKIP LOCKED
            """;

    /** A lane of a topic. Transactions that lock several lanes do so in this order. */
    record LaneNumber(int topicId, int lane) implements Comparable<LaneNumber> {
        @Override
        public int compareTo(LaneNumber other) {
            int byTopic = Integer.compare(topicId, other.topicId);
            return byTopic == 0 ? Integer.compare(lane, other.lane) : byTopic;
        }
    }

    private final Sessions sessions;
    private final SqlRunner sql;
    private final MessageSearch search;
    private final MessageActions actions;
    private final AuditLog audit;

    FilteredActions(Sessions sessions, SqlRunner sql, MessageSearch search, MessageActions actions, AuditLog audit) {
        this.sessions = sessions;
        this.sql = sql;
        this.search = search;
        this.actions = actions;
        this.audit = audit;
    }

    ChangeResult apply(Action action, Filter filter, Change change) {
        Filter selected = filter.states(states(action, filter, change.expected()));
        MessageCursor cursor = MessageCursor.parse(change.cursor());
        if (cursor.inArchive()) {
            throw new InvalidConfigurationException("cursor", "is one of delivered messages, which no action changes");
        }
        int changed = 0;
        int skipped = 0;
        List<Long> sample = new ArrayList<>();
        @Nullable Long after = cursor.seq();
        for (int searches = 0; searches < SEARCHES && changed + skipped < change.limit(); searches++) {
            MessageSearch.FoundPage found = find(selected, after, Math.min(STEP, change.limit() - changed - skipped));
            int done = found.seqs().size();
            if (change.isDryRun()) {
                found.seqs().stream().limit(SAMPLE - sample.size()).forEach(sample::add);
            } else {
                done = step(action, selected, change, found.seqs());
            }
            changed += done;
            skipped += found.seqs().size() - done;
            after = found.next();
            if (after == null) {
                return new ChangeResult(changed, skipped, null, summaries(sample));
            }
        }
        return new ChangeResult(
                changed,
                skipped,
                after == null ? change.cursor() : MessageCursor.live(after).toString(),
                summaries(sample));
    }

    /** Returns the states in which the action changes the messages that a caller means. */
    static Set<State> states(Action action, Filter filter, @Nullable State expected) {
        Set<State> states = EnumSet.copyOf(action.states());
        if (!filter.states().isEmpty()) {
            states.retainAll(filter.states());
        }
        if (expected != null) {
            states.retainAll(Set.of(expected));
        }
        if (states.isEmpty()) {
            throw new InvalidConfigurationException(
                    "filter",
                    "must select messages in one of the states that " + action + " changes: " + action.states());
        }
        return states;
    }

    private MessageSearch.FoundPage find(Filter filter, @Nullable Long after, int limit) {
        return sessions.transaction("find messages", connection -> {
            search.begin(connection);
            return search.find(connection, MessageConditions.of(connection, sql, filter), after, false, limit);
        });
    }

    private List<MessageSummary> summaries(List<Long> seqs) {
        if (seqs.isEmpty()) {
            return List.of();
        }
        List<MessageSummary> found = sessions.statement(
                "read messages", connection -> new MessageLists(sql, search).summaries(connection, seqs));
        found.sort(Comparator.comparingLong(MessageSummary::seq));
        return found;
    }

    /** Returns how many messages were changed. */
    private int step(Action action, Filter filter, Change change, List<Long> seqs) {
        if (seqs.isEmpty()) {
            return 0;
        }
        List<Long> unordered = new ArrayList<>();
        Map<LaneNumber, List<LaneKeys.Row>> inLanes = new TreeMap<>();
        for (MessageActions.ActionRow row :
                sessions.statement("read messages", connection -> actions.rows(connection, seqs))) {
            LaneKeys.Row inLane = row.inLane();
            if (inLane == null) {
                unordered.add(row.seq());
            } else {
                inLanes.computeIfAbsent(new LaneNumber(inLane.topicId(), inLane.lane()), lane -> new ArrayList<>())
                        .add(inLane);
            }
        }
        int changed = 0;
        if (!unordered.isEmpty()) {
            changed += transaction(
                    action,
                    filter,
                    change,
                    unordered.size(),
                    (connection, conditions) ->
                            actions.unordered(connection, action, lock(connection, conditions, unordered)));
        }
        for (List<LaneKeys.Row> lane : inLanes.values()) {
            for (int from = 0; from < lane.size(); from += IN_LANE) {
                List<LaneKeys.Row> some = lane.subList(from, Math.min(from + IN_LANE, lane.size()));
                changed += transaction(
                        action,
                        filter,
                        change,
                        some.size(),
                        (connection, conditions) -> inLane(connection, action, conditions, some));
            }
        }
        return changed;
    }

    @FunctionalInterface
    private interface ActionBody {
        int change(Connection connection, MessageConditions conditions) throws SQLException;
    }

    /** Returns how many messages were changed: none if a lane stays locked for as long as the transaction may wait. */
    private int transaction(Action action, Filter filter, Change change, int selected, ActionBody body) {
        try {
            return sessions.transaction(action.name(), connection -> {
                int changed = body.change(connection, MessageConditions.of(connection, sql, filter));
                if (changed > 0) {
                    audit.record(
                            connection,
                            change,
                            action.name(),
                            new AuditLog.FilteredChange(filter, changed, selected - changed));
                }
                return changed;
            });
        } catch (TransactionConflictException e) {
            log.debug("Skipped {} messages, because another transaction has locked their lane or table", selected, e);
            return 0;
        }
    }

    /** Locks those of these messages that are free and still selected. */
    Set<Long> lock(Connection connection, MessageConditions conditions, List<Long> seqs) throws SQLException {
        return sql.queryOnce(
                connection,
                ValueList.in(LOCK, seqs.size()).replace("{matches}", conditions.matchesLive()),
                binder -> conditions.bind(ValueList.bindNumbers(binder, seqs)),
                SqlRunner::numbers);
    }

    /** Locks the lane first, then the messages that are free. */
    private int inLane(Connection connection, Action action, MessageConditions conditions, List<LaneKeys.Row> rows)
            throws SQLException {
        LaneKeys.Row any = rows.get(0);
        new LaneKeys(sql).lock(connection, any.topicId(), any.lane());
        return inLockedLane(connection, action, conditions, rows);
    }

    /** Changes messages of lanes that this transaction has locked. Returns how many were changed. */
    int inLockedLane(Connection connection, Action action, MessageConditions conditions, List<LaneKeys.Row> rows)
            throws SQLException {
        Set<Long> locked = lock(
                connection, conditions, rows.stream().map(LaneKeys.Row::seq).toList());
        int changed = 0;
        for (LaneKeys.Row row : rows) {
            if (locked.contains(row.seq())) {
                Savepoint before = connection.setSavepoint();
                if (actions.inLane(connection, action, row) == Repair.DONE) {
                    changed++;
                } else {
                    connection.rollback(before);
                }
            }
        }
        return changed;
    }
}
