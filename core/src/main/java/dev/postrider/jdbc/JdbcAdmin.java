package dev.postrider.jdbc;

import dev.postrider.admin.Admin;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.admin.InboxStatus;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.TopicStatus;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.inbox.InboxEnvelope;
import dev.postrider.jdbc.inbox.InboxHandlers;
import dev.postrider.jdbc.inbox.InboxPartitions;
import dev.postrider.jdbc.inbox.InboxStatements;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The operators' reads and repairs over JDBC. Thread-safe. */
final class JdbcAdmin implements Admin {

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

    private static final String REPLAY = """
            UPDATE {message}
            SET state = 'PENDING', attempts = 0, crashes = 0, available_at = {now}, reason = NULL, fingerprint = NULL,
                updated_at = {now}
            WHERE id = ? AND state = 'DEAD'
            """;

    private static final String DISCARD = "DELETE FROM {message} WHERE id = ? AND state = 'DEAD'";

    private static final String DEAD_LETTERS = """
            SELECT m.*, t.namespace, t.topic AS topic_name FROM {message} m JOIN {topic} t ON t.id = m.topic_id
            WHERE t.namespace = ? AND t.topic = ? AND m.state = 'DEAD' AND m.seq > ?
            ORDER BY m.seq LIMIT ?
            """;

    private static final String LIVE = """
            SELECT m.*, t.namespace, t.topic AS topic_name FROM {message} m JOIN {topic} t ON t.id = m.topic_id WHERE m.id = ?
            """;

    private static final String ARCHIVED = """
            SELECT a.*, t.namespace, t.topic AS topic_name FROM {archive} a JOIN {topic} t ON t.id = a.topic_id
            WHERE a.id = ? ORDER BY a.delivered_at DESC LIMIT 1
            """;

    private static final String PAUSE = "UPDATE {topic} SET paused = ? WHERE namespace = ? AND topic = ?";

    private static final String REMOVE = """
            UPDATE {topic} SET removed_at = {now}
            WHERE namespace = ? AND topic = ? AND removed_at IS NULL
              AND NOT EXISTS (SELECT 1 FROM {message} m WHERE m.topic_id = {topic}.id)
            """;

    private static final String TOPIC = "SELECT 1 FROM {topic} WHERE namespace = ? AND topic = ?";

    private static final String AUDIT =
            "INSERT INTO {audit} (at, operator, action, namespace, topic, message_id) VALUES ({now}, ?, ?, ?, ?, ?)";

    private static final String LANES = """
            SELECT l.lane, l.owner, l.until, {now} AS now FROM {lane} l JOIN {topic} t ON t.id = l.topic_id
            WHERE t.namespace = ? AND t.topic = ?
            ORDER BY l.lane
            """;

    private static final String NODES =
            "SELECT worker, version, topics, started_at, until, {now} AS now FROM {node} ORDER BY started_at, worker";

    private static final String TOPICS = "SELECT id, namespace, topic FROM {topic}";

    private static final String INBOXES = """
            SELECT consumer, COUNT(*) AS marks, MIN(seen_at) AS oldest
            FROM (SELECT consumer, seen_at FROM {inbox_mark} ORDER BY seen_at LIMIT 1000000) m
            GROUP BY consumer ORDER BY consumer LIMIT 1000
            """;

    private static final int LIST_LIMIT = 1000;

    private final Sessions sessions;
    private final SqlRunner sql;
    private final InboxStatements inbox;
    private final Topics topics;
    private final BlockedKeys blockedKeys;
    private final Runnable changed;

    /** @param changed called after each change that may let a message be delivered */
    JdbcAdmin(Sessions sessions, SqlRunner sql, InboxStatements inbox, Topics topics, Runnable changed) {
        this.changed = changed;
        this.sessions = sessions;
        this.sql = sql;
        this.inbox = inbox;
        this.topics = topics;
        this.blockedKeys = new BlockedKeys(sql);
    }

    @Override
    public CommandAdmin commands() {
        return new JdbcCommandAdmin(sessions, sql, UUID::randomUUID);
    }

    @Override
    public List<TopicStatus> status() {
        return sessions.statement("count messages", connection -> {
            Map<TopicName, Integer> nodes = liveNodes(connection);
            return sql.query(connection, STATUS, binder -> {}, row -> statuses(row, nodes));
        });
    }

    /** Returns the number of live nodes that deliver each topic. */
    private Map<TopicName, Integer> liveNodes(Connection connection) throws SQLException {
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

    @Override
    public List<StoredMessage> deadLetters(TopicName topic, long afterSeq, int limit) {
        checkLimit(limit);
        return sessions.statement(
                "list dead letters",
                connection -> sql.query(
                        connection,
                        DEAD_LETTERS,
                        binder -> named(binder, topic).number(afterSeq).integer(limit),
                        row -> {
                            List<StoredMessage> dead = new ArrayList<>();
                            while (row.next()) {
                                dead.add(live(row));
                            }
                            return dead;
                        }));
    }

    private static void checkLimit(int limit) {
        if (limit < 1 || limit > LIST_LIMIT) {
            throw new InvalidConfigurationException("limit", "must be 1 to " + LIST_LIMIT + ", but is " + limit);
        }
    }

    @Override
    public List<BlockedKey> blockedKeys(TopicName topic, long afterSeq, int limit) {
        checkLimit(limit);
        return sessions.statement(
                "list blocked keys", connection -> blockedKeys.list(connection, topic, afterSeq, limit));
    }

    @Override
    public Repair retry(TopicName topic, @Nullable String tenant, String key, String operator) {
        OperatorName.check(operator);
        return notified(repairKey(
                "RETRY",
                topic,
                operator,
                connection -> blockedKeys.retry(
                        connection, topics.require(connection, topic), new OrderingKey(tenant, key))));
    }

    @Override
    public Repair bury(TopicName topic, @Nullable String tenant, String key, MessageId head, String operator) {
        OperatorName.check(operator);
        return notified(repairKey(
                "BURY",
                topic,
                operator,
                connection -> blockedKeys.bury(
                        connection, topics.require(connection, topic), new OrderingKey(tenant, key), head)));
    }

    /** Runs {@code changed} after the commit of a repair, so that the claim loop scans at once. */
    private Repair notified(Repair repair) {
        if (repair == Repair.DONE) {
            changed.run();
        }
        return repair;
    }

    private Repair repairKey(
            String action, TopicName topic, String operator, Sessions.Body<BlockedKeys.KeyChange> repair) {
        return sessions.transaction(action, connection -> {
            BlockedKeys.KeyChange change = repair.run(connection);
            if (change.repair() == Repair.DONE) {
                audit(connection, operator, action, topic, change.head());
            } else {
                connection.rollback();
            }
            return change.repair();
        });
    }

    @Override
    public List<LaneStatus> lanes(TopicName topic) {
        return sessions.statement(
                "list lanes",
                connection -> sql.query(connection, LANES, binder -> named(binder, topic), row -> {
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

    @Override
    public List<NodeStatus> nodes() {
        return sessions.statement("list nodes", this::nodes);
    }

    private List<NodeStatus> nodes(Connection connection) throws SQLException {
        Map<String, TopicName> names = sql.query(connection, TOPICS, binder -> {}, row -> {
            Map<String, TopicName> found = new HashMap<>();
            while (row.next()) {
                found.put(row.getString("id"), new TopicName(row.getString("namespace"), row.getString("topic")));
            }
            return found;
        });
        return sql.query(connection, NODES, binder -> {}, row -> {
            List<NodeStatus> nodes = new ArrayList<>();
            while (row.next()) {
                nodes.add(node(row, names));
            }
            return nodes;
        });
    }

    private NodeStatus node(ResultSet row, Map<String, TopicName> names) throws SQLException {
        List<TopicName> topics = new ArrayList<>();
        for (String id : row.getString("topics").split(",")) {
            TopicName name = names.get(id);
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

    @Override
    public Optional<StoredMessage> find(MessageId id) {
        return sessions.statement("find a message", connection -> {
            Optional<StoredMessage> live = find(connection, LIVE, id, this::live);
            return live.isPresent() ? live : find(connection, ARCHIVED, id, this::archived);
        });
    }

    private Optional<StoredMessage> find(
            Connection connection, String select, MessageId id, SqlRunner.Read<StoredMessage> read)
            throws SQLException {
        return sql.query(
                connection,
                select,
                binder -> binder.uuid(id.value()),
                row -> row.next() ? Optional.of(read.from(row)) : Optional.empty());
    }

    private StoredMessage live(ResultSet row) throws SQLException {
        ShownMessage shown = ShownMessage.read(row, sql);
        return new StoredMessage(
                row.getLong("seq"),
                shown.message(),
                InboxEnvelope.receivedId(shown.message()),
                state(row.getString("state")),
                row.getInt("attempts"),
                row.getInt("crashes"),
                time(row, "available_at"),
                null,
                row.getString("locked_by"),
                shown.problem() == null ? row.getString("last_error") : shown.problem(),
                row.getString("reason"),
                row.getString("fingerprint"),
                time(row, "created_at"));
    }

    private static StoredMessage.State state(String stored) {
        return Arrays.stream(StoredMessage.State.values())
                .filter(state -> state.name().equals(stored))
                .findFirst()
                .orElse(StoredMessage.State.UNKNOWN);
    }

    private StoredMessage archived(ResultSet row) throws SQLException {
        Message message = ShownMessage.read(row, sql).message();
        Instant due = message.deliverAt();
        return new StoredMessage(
                row.getLong("seq"),
                message,
                InboxEnvelope.receivedId(message),
                StoredMessage.State.DELIVERED,
                row.getInt("attempts"),
                row.getInt("crashes"),
                due == null ? time(row, "created_at") : due,
                time(row, "delivered_at"),
                null,
                null,
                null,
                null,
                time(row, "created_at"));
    }

    private Instant time(ResultSet row, String column) throws SQLException {
        Instant time = sql.readTime(row, column);
        return time == null ? Instant.EPOCH : time;
    }

    @Override
    public Repair replay(MessageId id, String operator) {
        OperatorName.check(operator);
        return notified(repair("REPLAY", REPLAY, blockedKeys::replay, id, operator));
    }

    @Override
    public Repair discard(MessageId id, String operator) {
        OperatorName.check(operator);
        return notified(repair("DISCARD", DISCARD, blockedKeys::discard, id, operator));
    }

    @FunctionalInterface
    private interface LaneRepair {
        Repair on(Connection connection, LaneKeys.Row row) throws SQLException;
    }

    private record RepairTarget(TopicName topic, LaneKeys.@Nullable Row inLane) {}

    /** The change is conditional, so two concurrent operators make one change and one audit entry. */
    private Repair repair(String action, String change, LaneRepair laneRepair, MessageId id, String operator) {
        return sessions.transaction(action, connection -> {
            Optional<RepairTarget> found = sql.query(
                    connection,
                    LIVE,
                    binder -> binder.uuid(id.value()),
                    row -> row.next() ? Optional.of(found(row)) : Optional.empty());
            if (found.isEmpty()) {
                return Repair.NOT_FOUND;
            }
            LaneKeys.Row inLane = found.get().inLane();
            Repair repair = inLane == null
                    ? changed(sql.update(connection, change, binder -> binder.uuid(id.value())))
                    : isEnded(inLane) ? laneRepair.on(connection, inLane) : Repair.NOT_DEAD;
            if (repair == Repair.DONE) {
                audit(connection, operator, action, found.get().topic(), id);
            } else {
                connection.rollback();
            }
            return repair;
        });
    }

    private static Repair changed(int rows) {
        return rows == 1 ? Repair.DONE : Repair.NOT_DEAD;
    }

    private RepairTarget found(ResultSet row) throws SQLException {
        return new RepairTarget(
                new TopicName(row.getString("namespace"), row.getString("topic_name")), blockedKeys.ordered(row));
    }

    private static boolean isEnded(LaneKeys.Row row) {
        return row.state() == RowState.DEAD || row.state() == RowState.PARKED;
    }

    @Override
    public void pause(TopicName topic, String operator) {
        setPaused(topic, true, operator);
    }

    @Override
    public void resume(TopicName topic, String operator) {
        setPaused(topic, false, operator);
        changed.run();
    }

    @Override
    public List<InboxStatus> inboxes() {
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

    @Override
    public void partitionInboxMarks(String operator) {
        OperatorName.check(operator);
        InboxPartitions partitions = inbox.partitions()
                .orElseThrow(() -> new InvalidConfigurationException(
                        "inbox partitions", "need PostgreSQL: on other databases old marks are purged row by row"));
        sessions.transaction("partition the marks of the inbox", connection -> {
            if (!partitions.exist(connection)) {
                partitions.introduce(connection);
                audit(connection, operator, "PARTITION_INBOX", null, null);
            }
            return true;
        });
    }

    private void setPaused(TopicName topic, boolean paused, String operator) {
        OperatorName.check(operator);
        String action = paused ? "PAUSE" : "RESUME";
        sessions.transaction(action, connection -> {
            int matched = sql.update(connection, PAUSE, binder -> named(binder.flag(paused), topic));
            // Some drivers count changed rows instead of matched rows, so a second pause may return 0.
            if (matched == 0 && !sql.query(connection, TOPIC, binder -> named(binder, topic), ResultSet::next)) {
                throw new UnknownTopicException(topic.toString());
            }
            audit(connection, operator, action, topic, null);
            return true;
        });
    }

    @Override
    public Repair remove(TopicName topic, String operator) {
        OperatorName.check(operator);
        return sessions.transaction("REMOVE", connection -> {
            Optional<Topics.RegisteredTopic> found = topics.find(connection, topic);
            if (found.isEmpty() || found.get().removed()) {
                return Repair.NOT_FOUND;
            }
            boolean delivered = liveNodes(connection).containsKey(topic);
            if (delivered || sql.update(connection, REMOVE, binder -> named(binder, topic)) == 0) {
                return Repair.IN_USE;
            }
            audit(connection, operator, "REMOVE", topic, null);
            return Repair.DONE;
        });
    }

    @Override
    public int retire(String consumer, String handler, String operator) {
        OperatorName.check(operator);
        TopicName queue = InboxHandler.topic(consumer, handler);
        Topics.RegisteredTopic registered = sessions.transaction("retire a handler", connection -> {
            Topics.RegisteredTopic topic = topics.require(connection, queue);
            if (new InboxHandlers(sql).remove(connection, consumer, handler)) {
                audit(connection, operator, "RETIRE", queue, null);
            }
            return topic;
        });
        return new HandlerRetirement(sessions, sql).bury(registered);
    }

    /** @param topic null for an action that concerns no topic */
    private void audit(
            Connection connection, String operator, String action, @Nullable TopicName topic, @Nullable MessageId id)
            throws SQLException {
        sql.update(connection, AUDIT, binder -> {
            binder.text(operator)
                    .text(action)
                    .text(topic == null ? "" : topic.namespace())
                    .text(topic == null ? "" : topic.topic());
            if (id == null) {
                binder.none();
            } else {
                binder.uuid(id.value());
            }
        });
    }

    private static Binder named(Binder binder, TopicName topic) throws SQLException {
        return binder.text(topic.namespace()).text(topic.topic());
    }
}
