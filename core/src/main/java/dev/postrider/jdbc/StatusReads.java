package dev.postrider.jdbc;

import dev.postrider.admin.InboxStatus;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.TopicStatus;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The status of topics, lanes, nodes and inboxes. Thread-safe. */
final class StatusReads {

    private static final String STATUS = """
            SELECT t.namespace, t.topic, t.paused,
                   COUNT(CASE WHEN m.state = 'PENDING' AND m.attempts = 0 AND m.available_at <= {now} THEN 1 END) AS waiting,
                   COUNT(CASE WHEN m.state IN ('PENDING', 'SCHEDULED') AND m.attempts = 0 AND m.available_at > {now} THEN 1
                              WHEN m.state = 'SCHEDULED' AND m.attempts = 0 THEN 1 END) AS scheduled,
                   COUNT(CASE WHEN m.state IN ('PENDING', 'SCHEDULED') AND m.attempts > 0 THEN 1
                              WHEN m.state = 'RETRY' THEN 1 END) AS retrying,
                   COUNT(CASE WHEN m.state = 'PROCESSING' THEN 1 END) AS processing,
                   COUNT(CASE WHEN m.state = 'BLOCKED' THEN 1 END) AS blocked,
                   COUNT(CASE WHEN m.state = 'PARKED' THEN 1 END) AS parked,
                   COUNT(CASE WHEN m.state = 'DEAD' THEN 1 END) AS dead,
                   MIN(CASE WHEN m.state = 'DEAD' THEN NULL
                            WHEN m.state IN ('PENDING', 'SCHEDULED') AND m.attempts = 0 AND m.available_at > {now} THEN NULL
                            ELSE m.created_at END) AS oldest,
                   {now} AS now
            FROM {topic} t LEFT JOIN {message} m ON m.topic_id = t.id
            WHERE t.removed_at IS NULL OR m.topic_id IS NOT NULL
            GROUP BY t.namespace, t.topic, t.paused
            ORDER BY t.namespace, t.topic
            """;

    /** Two conditions, because unordered topics and lanes use different indexes. */
    private static final String WAITED_FOR = """
            SELECT t.namespace, t.topic FROM {topic} t
            WHERE EXISTS (SELECT 1 FROM {message} m WHERE m.topic_id = t.id AND m.state = 'PENDING' AND m.lane IS NULL)
               OR EXISTS (SELECT 1 FROM {message} m WHERE m.topic_id = t.id AND m.state = 'PENDING' AND m.lane IS NOT NULL)
            ORDER BY t.namespace, t.topic
            """;

    private static final String LANES = """
            SELECT l.lane, l.owner, l.until, {now} AS now FROM {lane} l JOIN {topic} t ON t.id = l.topic_id
            WHERE t.namespace = ? AND t.topic = ?
            ORDER BY l.lane
            """;

    private static final String NODES =
            "SELECT worker, version, topics, started_at, until, {now} AS now FROM {node} ORDER BY started_at, worker";

    private static final String INBOXES = """
            SELECT consumer, COUNT(*) AS marks, MIN(seen_at) AS oldest
            FROM (SELECT consumer, seen_at FROM {inbox_mark} ORDER BY seen_at LIMIT 1000000) m
            GROUP BY consumer ORDER BY consumer LIMIT 1000
            """;

    private final Sessions sessions;
    private final SqlRunner sql;

    StatusReads(Sessions sessions, SqlRunner sql) {
        this.sessions = sessions;
        this.sql = sql;
    }

    List<TopicStatus> topics() {
        return sessions.statement("count messages", connection -> {
            Map<TopicName, Integer> nodes = liveNodes(connection);
            return sql.query(connection, STATUS, binder -> {}, row -> statuses(row, nodes));
        });
    }

    /** Returns the number of live nodes that deliver each topic. */
    Map<TopicName, Integer> liveNodes(Connection connection) throws SQLException {
        Map<TopicName, Integer> live = new HashMap<>();
        for (NodeStatus node : nodes(connection)) {
            if (node.alive()) {
                node.topics().forEach(topic -> live.merge(topic, 1, Integer::sum));
            }
        }
        return live;
    }

    /** Returns the topics that have pending messages and that no live node delivers. */
    List<TopicName> stranded() {
        return sessions.statement("find topics that no node delivers", connection -> {
            Map<TopicName, Integer> nodes = liveNodes(connection);
            return sql.query(connection, WAITED_FOR, binder -> {}, row -> {
                List<TopicName> stranded = new ArrayList<>();
                while (row.next()) {
                    TopicName topic = new TopicName(row.getString("namespace"), row.getString("topic"));
                    if (!nodes.containsKey(topic)) {
                        stranded.add(topic);
                    }
                }
                return stranded;
            });
        });
    }

    private List<TopicStatus> statuses(ResultSet row, Map<TopicName, Integer> nodes) throws SQLException {
        List<TopicStatus> topics = new ArrayList<>();
        while (row.next()) {
            TopicName name = new TopicName(row.getString("namespace"), row.getString("topic"));
            topics.add(new TopicStatus(
                    name,
                    row.getBoolean("paused"),
                    nodes.getOrDefault(name, 0),
                    row.getLong("waiting"),
                    row.getLong("scheduled"),
                    row.getLong("retrying"),
                    row.getLong("processing"),
                    row.getLong("blocked"),
                    row.getLong("parked"),
                    row.getLong("dead"),
                    age(sql.readTime(row, "oldest"), sql.readTime(row, "now"))));
        }
        return topics;
    }

    private static Duration age(@Nullable Instant oldest, @Nullable Instant now) {
        if (oldest == null || now == null || now.isBefore(oldest)) {
            return Duration.ZERO;
        }
        return Duration.between(oldest, now);
    }

    List<LaneStatus> lanes(TopicName topic) {
        return sessions.statement(
                "list lanes",
                connection -> sql.query(
                        connection,
                        LANES,
                        binder -> binder.text(topic.namespace()).text(topic.topic()),
                        row -> {
                            List<LaneStatus> lanes = new ArrayList<>();
                            while (row.next()) {
                                String owner = row.getString("owner");
                                Instant until = time(row, "until");
                                boolean expired = owner != null && until.isBefore(time(row, "now"));
                                lanes.add(new LaneStatus(row.getInt("lane"), owner, until, expired));
                            }
                            return lanes;
                        }));
    }

    List<NodeStatus> nodes() {
        return sessions.statement("list nodes", this::nodes);
    }

    private List<NodeStatus> nodes(Connection connection) throws SQLException {
        Map<Integer, TopicName> names = TopicNames.read(connection, sql);
        return sql.query(connection, NODES, binder -> {}, row -> {
            List<NodeStatus> nodes = new ArrayList<>();
            while (row.next()) {
                nodes.add(node(row, names));
            }
            return nodes;
        });
    }

    private NodeStatus node(ResultSet row, Map<Integer, TopicName> names) throws SQLException {
        List<TopicName> topics = new ArrayList<>();
        for (String id : row.getString("topics").split(",")) {
            TopicName name = id.isEmpty() ? null : names.get(Integer.valueOf(id));
            if (name != null) {
                topics.add(name);
            }
        }
        topics.sort(Comparator.comparing(TopicName::toString));
        Instant until = time(row, "until");
        return new NodeStatus(
                row.getString("worker"),
                row.getString("version"),
                topics,
                time(row, "started_at"),
                until,
                until.isAfter(time(row, "now")));
    }

    List<InboxStatus> inboxes() {
        return sessions.statement(
                "count marks of the inbox",
                connection -> sql.query(connection, INBOXES, binder -> {}, row -> {
                    List<InboxStatus> inboxes = new ArrayList<>();
                    while (row.next()) {
                        Instant oldest = sql.readTime(row, "oldest");
                        inboxes.add(new InboxStatus(
                                row.getString("consumer"), row.getLong("marks"), Objects.requireNonNull(oldest)));
                    }
                    return inboxes;
                }));
    }

    private Instant time(ResultSet row, String column) throws SQLException {
        Instant time = sql.readTime(row, column);
        return time == null ? Instant.EPOCH : time;
    }
}
