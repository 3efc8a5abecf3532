package dev.postrider.jdbc;

import dev.postrider.admin.FailureGroup;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Counts dead and parked messages by fingerprint, topic and type. */
final class FailureReads {

    private static final String GROUPS = """
            SELECT f.topic_id, f.type, f.fingerprint, COUNT(*) AS failures, MIN(f.updated_at) AS first_at, MAX(f.updated_at) AS last_at,
                   MAX(f.seq) AS sample
            FROM ({rows}) f WHERE f.hit = 1
            GROUP BY f.topic_id, f.type, f.fingerprint ORDER BY failures DESC, sample DESC LIMIT ?
            """;

    private static final Set<State> FAILED = Set.of(State.DEAD, State.PARKED);

    private record Group(
            int topicId,
            String type,
            @Nullable String fingerprint,
            long count,
            Instant first,
            Instant last,
            long sample) {}

    private final SqlRunner sql;
    private final MessageSearch search;
    private final MessageLists lists;

    FailureReads(SqlRunner sql, MessageSearch search, MessageLists lists) {
        this.sql = sql;
        this.search = search;
        this.lists = lists;
    }

    FailureGroups groups(Connection connection, Filter filter, int limit) throws SQLException {
        search.begin(connection);
        MessageConditions conditions = MessageConditions.of(connection, sql, filter.states(failed(filter)));
        if (!conditions.live()) {
            return new FailureGroups(List.of(), true);
        }
        MessageSearch.SearchedRows rows = search.newest(connection, conditions);
        List<Group> groups = sql.queryOnce(
                connection,
                GROUPS.replace("{rows}", rows.statement()),
                binder -> {
                    rows.bind().to(binder);
                    binder.integer(limit);
                },
                found -> {
                    List<Group> all = new ArrayList<>();
                    while (found.next()) {
                        all.add(new Group(
                                found.getInt("topic_id"),
                                found.getString("type"),
                                found.getString("fingerprint"),
                                found.getLong("failures"),
                                time(sql.readTime(found, "first_at")),
                                time(sql.readTime(found, "last_at")),
                                found.getLong("sample")));
                    }
                    return all;
                });
        return new FailureGroups(shown(connection, groups), rows.last() == null);
    }

    private static Set<State> failed(Filter filter) {
        if (filter.states().isEmpty()) {
            return FAILED;
        }
        Set<State> states = EnumSet.copyOf(filter.states());
        states.retainAll(FAILED);
        if (states.isEmpty()) {
            throw new InvalidConfigurationException("filter", "must select dead or parked messages");
        }
        return states;
    }

    private static Instant time(@Nullable Instant time) {
        return time == null ? Instant.EPOCH : time;
    }

    /** A sample that is gone by now takes its group with it: an operator or the purge was faster. */
    private List<FailureGroup> shown(Connection connection, List<Group> groups) throws SQLException {
        Map<Long, MessageSummary> samples =
                lists.summaries(connection, groups.stream().map(Group::sample).toList()).stream()
                        .collect(Collectors.toMap(MessageSummary::seq, Function.identity()));
        List<FailureGroup> shown = new ArrayList<>();
        for (Group group : groups) {
            MessageSummary sample = samples.get(group.sample());
            if (sample != null) {
                TopicName topic = sample.topic();
                MessageId id = sample.id();
                shown.add(new FailureGroup(
                        group.fingerprint(),
                        topic,
                        group.type(),
                        group.count(),
                        group.first(),
                        group.last(),
                        id,
                        sample.lastError()));
            }
        }
        return shown;
    }
}
