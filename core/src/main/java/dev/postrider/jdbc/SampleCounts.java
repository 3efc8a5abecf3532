package dev.postrider.jdbc;

import dev.postrider.admin.Count;
import dev.postrider.admin.OldestTransaction;
import dev.postrider.admin.Sample;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.TopicSample;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;

/** Counts the rows for a sample, each kind up to a limit. Immutable, thread-safe. */
final class SampleCounts {

    private static final String NOW = "SELECT {now} AS now";

    /** Removed topics are counted too: a process that has written to one before can still do so. */
    private static final String TOPICS = """
            SELECT id, namespace, topic, lanes, paused, CASE WHEN removed_at IS NULL THEN 0 ELSE 1 END AS removed FROM {topic}
            ORDER BY removed, namespace, topic LIMIT 1000
            """;

    private static final String LIVE_NODES = "SELECT topics FROM {node} WHERE until > {now} LIMIT 10000";

    private static final String IDEMPOTENCY_KEYS = "SELECT COUNT(*) FROM (SELECT 1 AS mark FROM {dedup} LIMIT ?) k";

    private static final String INBOX_MARKS = "SELECT COUNT(*) FROM (SELECT 1 AS mark FROM {inbox_mark} LIMIT ?) k";

    private static final String COMPLETED_COMMANDS =
            "SELECT COUNT(*) FROM (SELECT 1 AS mark FROM {command} WHERE state = 'COMPLETED' LIMIT ?) c";

    /** Three texts, because the partial index of PostgreSQL needs the state in the text. */
    private static final String OPEN_COMMANDS = """
            SELECT COUNT(*), SUM(CASE WHEN lease_until <= {now} THEN 1 ELSE 0 END)
            FROM (SELECT lease_until FROM {command} WHERE state = '%s' ORDER BY created_at LIMIT ?) c
            """;

    /** The largest number of rows that one part of a statement reads, and the smallest if there are many topics. */
    private static final int MOST = 10_000;

    private static final int LEAST = 1_000;

    /** The number of rows that is divided among the topics, and again among those whose counts ended at their limit. */
    private static final int ALL = 100_000;

    private final SqlRunner sql;
    private final LongSupplier nanos;

    /** @param nanos the monotonic clock */
    SampleCounts(SqlRunner sql, LongSupplier nanos) {
        this.sql = sql;
        this.nanos = nanos;
    }

    Sample take(Connection connection, String node) throws SQLException {
        long began = nanos.getAsLong();
        Instant now = sql.query(connection, NOW, binder -> {}, this::time);
        List<TopicSample> topics = topics(connection, now);
        Map<StoredCommand.State, Count> commands = new EnumMap<>(StoredCommand.State.class);
        commands.put(StoredCommand.State.COMPLETED, bounded(connection, COMPLETED_COMMANDS));
        Count stuck = Count.ZERO;
        for (StoredCommand.State state : StoredCommand.State.values()) {
            if (state != StoredCommand.State.COMPLETED) {
                List<Count> counts = open(connection, state);
                commands.put(state, counts.get(0));
                stuck = state == StoredCommand.State.IN_PROGRESS ? counts.get(1) : stuck;
            }
        }
        Count keys = bounded(connection, IDEMPOTENCY_KEYS);
        Count marks = bounded(connection, INBOX_MARKS);
        OldestTransaction oldest = new OldestTransactions(sql).find(connection).orElse(null);
        Duration took = Duration.ofNanos(nanos.getAsLong() - began);
        return new Sample(now, node, took, topics, keys, marks, commands, stuck, oldest);
    }

    private Instant time(ResultSet row) throws SQLException {
        row.next();
        return Objects.requireNonNull(sql.readTime(row, "now"));
    }

    private List<TopicSample> topics(Connection connection, Instant now) throws SQLException {
        List<TopicCounts.CountedTopic> registered =
                sql.query(connection, TOPICS, binder -> {}, SampleCounts::registered);
        Map<String, Integer> nodes = sql.query(connection, LIVE_NODES, binder -> {}, SampleCounts::nodes);
        int limit = Math.max(Math.min(ALL / Math.max(registered.size(), 1), MOST), LEAST);
        Map<TopicCounts.CountedTopic, TopicSample> counted = new LinkedHashMap<>();
        count(connection, registered, new TopicCounts(sql, now, limit), nodes, counted);
        List<TopicCounts.CountedTopic> cut = registered.stream()
                .filter(topic -> !isExact(Objects.requireNonNull(counted.get(topic))))
                .toList();
        int larger = Math.min(ALL / Math.max(cut.size(), 1), MOST);
        if (larger > limit) {
            count(connection, cut, new TopicCounts(sql, now, larger), nodes, counted);
        }
        counted.entrySet().removeIf(entry -> entry.getKey().isRemoved() && isEmpty(entry.getValue()));
        return List.copyOf(counted.values());
    }

    private static void count(
            Connection connection,
            List<TopicCounts.CountedTopic> topics,
            TopicCounts counts,
            Map<String, Integer> nodes,
            Map<TopicCounts.CountedTopic, TopicSample> counted)
            throws SQLException {
        for (TopicCounts.CountedTopic topic : topics) {
            counted.put(topic, counts.take(connection, topic, nodes.getOrDefault(String.valueOf(topic.id()), 0)));
        }
    }

    private static boolean isExact(TopicSample topic) {
        return topic.backlog().exact()
                && topic.dead().exact()
                && topic.blockedKeys().exact();
    }

    private static boolean isEmpty(TopicSample topic) {
        return topic.backlog().value() == 0 && topic.dead().value() == 0;
    }

    private static List<TopicCounts.CountedTopic> registered(ResultSet row) throws SQLException {
        List<TopicCounts.CountedTopic> topics = new ArrayList<>();
        while (row.next()) {
            topics.add(new TopicCounts.CountedTopic(
                    row.getInt("id"),
                    new TopicName(row.getString("namespace"), row.getString("topic")),
                    row.getInt("lanes") > 0,
                    row.getBoolean("paused"),
                    row.getInt("removed") == 1));
        }
        return topics;
    }

    /** The number of live nodes by the id of each topic. */
    private static Map<String, Integer> nodes(ResultSet row) throws SQLException {
        Map<String, Integer> nodes = new HashMap<>();
        while (row.next()) {
            for (String id : row.getString("topics").split(",")) {
                nodes.merge(id, 1, Integer::sum);
            }
        }
        return nodes;
    }

    /** Returns the number of commands in a state, and how many of them have a lease that has ended. */
    private List<Count> open(Connection connection, StoredCommand.State state) throws SQLException {
        return sql.query(connection, OPEN_COMMANDS.formatted(state.name()), binder -> binder.integer(MOST + 1), row -> {
            row.next();
            boolean exact = row.getLong(1) <= MOST;
            return List.of(new Count(row.getLong(1), exact), new Count(row.getLong(2), exact));
        });
    }

    private Count bounded(Connection connection, String statement) throws SQLException {
        return sql.query(connection, statement, binder -> binder.integer(MOST + 1), row -> {
            row.next();
            return new Count(row.getLong(1), row.getLong(1) <= MOST);
        });
    }
}
