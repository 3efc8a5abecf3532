package dev.postrider.jdbc;

import dev.postrider.admin.Filter;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.jdbc.MessageIndexes.Entries;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds messages of the live table by a filter, in the order of their numbers. It examines at most {@link Filter#EXAMINED} rows each time:
 * the rows of the filter's states and topic if an index shows that they are few, otherwise the next ones by number. A statement examines no
 * more rows than that, whatever the planner estimates: conditions that could lead it to another index are hidden in a CASE.
 */
final class MessageSearch {

    /** Until where the rows by number are examined. */
    private static final String LAST_EXAMINED = """
            SELECT m.seq FROM {message} m{hint} WHERE m.seq {after} ?{access}
            ORDER BY m.seq{direction} LIMIT 1 OFFSET ?
            """;

    private static final String BY_NUMBER = """
            SELECT m.seq, m.topic_id, m.type, m.fingerprint, m.updated_at, CASE WHEN {matches} THEN 1 ELSE 0 END AS hit
            FROM {message} m{hint} WHERE m.seq {after} ? AND m.seq {until} ?{access}
            """;

    private static final String BY_STATE = """
            SELECT s.seq, s.topic_id, s.type, s.fingerprint, s.updated_at, s.hit
            FROM (SELECT m.seq, m.topic_id, m.type, m.fingerprint, m.updated_at, CASE WHEN {matches} THEN 1 ELSE 0 END AS hit
                  FROM {message} m{hint} WHERE {access} ORDER BY {order} LIMIT ?) s
            """;

    private static final String COUNT_BY_STATE =
            "SELECT s.seq FROM (SELECT m.seq FROM {message} m{hint} WHERE {access} ORDER BY {order} LIMIT ?) s";

    private static final String HITS =
            "SELECT c.seq FROM ({rows}) c WHERE c.hit = 1 AND c.seq {after} ? ORDER BY c.seq{direction} LIMIT ?";

    /**
     * Makes PostgreSQL go through an index until the transaction ends. While a table has no statistics, the planner takes the order of its
     * rows for random, and rather reads them all.
     */
    private static final String THROUGH_INDEXES =
            "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)";

    /** Rows may come between the count of the rows and the read of them. */
    private static final int SLACK = 1000;

    /**
     * The rows that one search examines, as a statement with the columns seq, topic_id, type, fingerprint, updated_at and hit.
     *
     * @param last the number of the last examined row; null if the rows are the last ones
     */
    record SearchedRows(
            String statement, SqlRunner.Bind bind, @Nullable Long last) {}

    /**
     * @param next the number after which the search continues; null at the end
     * @param cut whether the search ended because it examined as many rows as it may
     */
    record FoundPage(List<Long> seqs, @Nullable Long next, boolean cut) {}

    private final SqlRunner sql;
    private final Topics topics;

    MessageSearch(SqlRunner sql, Topics topics) {
        this.sql = sql;
        this.topics = topics;
    }

    /** Must be called first in the transaction of a search. */
    void begin(Connection connection) throws SQLException {
        if (sql.kind() == DatabaseKind.POSTGRESQL) {
            sql.query(connection, THROUGH_INDEXES, binder -> {}, ResultSet::next);
        }
    }

    /** @param after the number after which the search begins; null for the beginning */
    FoundPage find(
            Connection connection, MessageConditions conditions, @Nullable Long after, boolean newestFirst, int limit)
            throws SQLException {
        if (!conditions.live()) {
            return new FoundPage(List.of(), null, false);
        }
        long start = start(after, newestFirst);
        SearchedRows rows = rows(connection, conditions, start, newestFirst);
        List<Long> seqs = sql.queryOnce(
                connection,
                directed(HITS, newestFirst).replace("{rows}", rows.statement()),
                binder -> {
                    rows.bind().to(binder);
                    binder.number(start).integer(limit + 1);
                },
                found -> {
                    List<Long> all = new ArrayList<>();
                    while (found.next()) {
                        all.add(found.getLong("seq"));
                    }
                    return all;
                });
        if (seqs.size() > limit) {
            return new FoundPage(seqs.subList(0, limit), seqs.get(limit - 1), false);
        }
        return new FoundPage(seqs, rows.last(), rows.last() != null);
    }

    private static long start(@Nullable Long after, boolean newestFirst) {
        if (after != null) {
            return after;
        }
        return newestFirst ? Long.MAX_VALUE : Long.MIN_VALUE;
    }

    private static String directed(String statement, boolean newestFirst) {
        return statement
                .replace("{after}", newestFirst ? "<" : ">")
                .replace("{until}", newestFirst ? ">=" : "<=")
                .replace("{direction}", newestFirst ? " DESC" : "");
    }

    /** Returns the newest rows, as many as one search examines. */
    SearchedRows newest(Connection connection, MessageConditions conditions) throws SQLException {
        return rows(connection, conditions, Long.MAX_VALUE, true);
    }

    private SearchedRows rows(Connection connection, MessageConditions conditions, long start, boolean newestFirst)
            throws SQLException {
        if (!conditions.ids().isEmpty()) {
            return byNumber(conditions, idAccess(conditions), start, newestFirst, null);
        }
        Access access = deadLetters(connection, conditions);
        if (access == null) {
            List<Entries> entries = entries(conditions);
            if (!entries.isEmpty() && areFew(connection, conditions, entries)) {
                return byState(conditions, entries);
            }
            access = new Access("{by key}", "", binder -> {});
        }
        Long last = lastExamined(connection, access, start, newestFirst);
        return byNumber(conditions, access, start, newestFirst, last);
    }

    /** A hint for an index, and a condition that it serves. */
    private record Access(String hint, String and, SqlRunner.Bind bind) {}

    private Access idAccess(MessageConditions conditions) {
        return new Access(
                MessageIndexes.hint(sql.kind(), "message_id"),
                ValueList.in(" AND m.id IN ({values})", conditions.ids().size()),
                binder -> ValueList.bindUuids(binder, conditions.ids()));
    }

    private @Nullable Access deadLetters(Connection connection, MessageConditions conditions) throws SQLException {
        Filter filter = conditions.filter();
        @Nullable Integer topicId = conditions.topicId();
        if (topicId == null || !live(filter).equals(Set.of(State.DEAD))) {
            return null;
        }
        for (Filter.Condition condition : filter.conditions()) {
            if (condition instanceof Filter.InTopic topic) {
                Topics.RegisteredTopic registered =
                        topics.find(connection, topic.name()).orElseThrow();
                Entries entries = MessageIndexes.deadLetters(sql.kind(), registered);
                return entries == null
                        ? null
                        : new Access(
                                entries.hint(),
                                " AND " + entries.where() + " AND m.topic_id = ?",
                                binder -> binder.integer(topicId));
            }
        }
        return null;
    }

    private static Set<State> live(Filter filter) {
        return filter.states().stream().filter(MessageStates.LIVE::contains).collect(Collectors.toSet());
    }

    /** Returns the ways to the rows of the filter's states and topic; empty if the filter names neither. */
    private List<Entries> entries(MessageConditions conditions) {
        if (conditions.topicId() == null && conditions.filter().states().isEmpty()) {
            return List.of();
        }
        Set<RowState> stored = EnumSet.noneOf(RowState.class);
        live(conditions.filter()).forEach(state -> stored.addAll(MessageStates.stored(state)));
        return MessageIndexes.of(sql.kind(), stored);
    }

    private boolean areFew(Connection connection, MessageConditions conditions, List<Entries> entries)
            throws SQLException {
        String each = entries.stream()
                .map(way -> through(COUNT_BY_STATE, way, conditions))
                .collect(Collectors.joining(" UNION ALL "));
        int most = Filter.EXAMINED;
        return sql.queryOnce(
                connection,
                "SELECT COUNT(*) FROM (" + each + ") c",
                binder -> {
                    for (int i = 0; i < entries.size(); i++) {
                        topic(binder, conditions).integer(most + 1);
                    }
                },
                count -> count.next() && count.getLong(1) <= most);
    }

    private static String through(String statement, Entries way, MessageConditions conditions) {
        boolean inTopic = conditions.topicId() != null;
        return statement
                .replace("{hint}", way.hint())
                .replace("{access}", way.where() + (inTopic ? " AND m.topic_id = ?" : ""))
                .replace("{order}", way.order());
    }

    private static Binder topic(Binder binder, MessageConditions conditions) throws SQLException {
        Integer topicId = conditions.topicId();
        return topicId == null ? binder : binder.integer(topicId);
    }

    private static SearchedRows byState(MessageConditions conditions, List<Entries> entries) {
        String each = entries.stream()
                .map(way -> through(BY_STATE, way, conditions).replace("{matches}", conditions.matchesLive()))
                .collect(Collectors.joining(" UNION ALL "));
        return new SearchedRows(
                each,
                binder -> {
                    for (int i = 0; i < entries.size(); i++) {
                        topic(conditions.bind(binder), conditions).integer(Filter.EXAMINED + SLACK);
                    }
                },
                null);
    }

    private @Nullable Long lastExamined(Connection connection, Access access, long start, boolean newestFirst)
            throws SQLException {
        Optional<Long> last = sql.queryOnce(
                connection,
                directed(LAST_EXAMINED, newestFirst)
                        .replace("{hint}", access.hint())
                        .replace("{access}", access.and()),
                binder -> {
                    access.bind().to(binder.number(start));
                    binder.integer(Filter.EXAMINED - 1);
                },
                row -> row.next() ? Optional.of(row.getLong("seq")) : Optional.empty());
        return last.orElse(null);
    }

    private static SearchedRows byNumber(
            MessageConditions conditions, Access access, long start, boolean newestFirst, @Nullable Long last) {
        long until = last != null ? last : newestFirst ? Long.MIN_VALUE : Long.MAX_VALUE;
        return new SearchedRows(
                directed(BY_NUMBER, newestFirst)
                        .replace("{hint}", access.hint())
                        .replace("{access}", access.and())
                        .replace("{matches}", conditions.matchesLive()),
                binder -> access.bind().to(conditions.bind(binder).number(start).number(until)),
                last);
    }
}
