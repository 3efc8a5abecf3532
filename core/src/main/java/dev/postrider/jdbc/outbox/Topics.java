package dev.postrider.jdbc.outbox;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.internal.store.TopicDeclaration;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The topics registered in the database, with the numbers that identify them in the indexes. A topic that was found is cached, because
 * it keeps its number for ever. Thread-safe.
 */
public final class Topics {

    public static final String FIND =
            "SELECT id, lanes, tenant_prefixed_keys, removed_at FROM {topic} WHERE namespace = ? AND topic = ?";

    private static final String INSERT =
            "INSERT INTO {topic} (namespace, topic, lanes, tenant_prefixed_keys, created_at) VALUES (?, ?, ?, ?, {now})";

    private static final String COUNT_LANES = "SELECT COUNT(*) FROM {lane} WHERE topic_id = ?";

    private static final String INSERT_LANE = "INSERT INTO {lane} (topic_id, lane, until) VALUES (?, ?, {now})";

    private static final String RESTORE = "UPDATE {topic} SET removed_at = NULL WHERE id = ?";

    /**
     * @param lanes 0 for an unordered topic
     * @param removed whether an operator removed the topic; it keeps its number, since a process that cached it may still write to it
     */
    public record RegisteredTopic(int id, int lanes, boolean tenantPrefixedKeys, boolean removed) {}

    private final SqlRunner sql;
    private final Map<TopicName, RegisteredTopic> known = new ConcurrentHashMap<>();

    Topics(SqlRunner sql) {
        this.sql = sql;
    }

    public Optional<RegisteredTopic> known(TopicName name) {
        return Optional.ofNullable(known.get(name));
    }

    /** Returns a topic from the cache, or reads it on the given connection, so that an enqueue opens no second connection. */
    public RegisteredTopic require(Connection connection, TopicName name) throws SQLException {
        RegisteredTopic topic = known.get(name);
        if (topic == null) {
            topic = find(connection, name)
                    .filter(found -> !found.removed())
                    .orElseThrow(() -> new UnknownTopicException(name.toString()));
            known.put(name, topic);
        }
        return topic;
    }

    /** Finds a registered topic, including one that was removed. */
    public Optional<RegisteredTopic> find(Connection connection, TopicName name) throws SQLException {
        return sql.query(
                connection,
                FIND,
                binder -> binder.text(name.namespace()).text(name.topic()),
                row -> row.next()
                        ? Optional.of(new RegisteredTopic(
                                row.getInt(1),
                                row.getInt(2),
                                row.getBoolean(3),
                                sql.readTime(row, "removed_at") != null))
                        : Optional.empty());
    }

    /** Registers topics. Must run in autocommit mode: a lost race against the insert of another node must not abort a transaction. */
    public void register(Connection connection, Collection<TopicDeclaration> declarations) throws SQLException {
        for (TopicDeclaration declaration : declarations) {
            Optional<RegisteredTopic> found = find(connection, declaration.name());
            RegisteredTopic topic = found.isPresent() ? found.get() : insert(connection, declaration);
            same(declaration, "tenant-prefixed-keys", declaration.tenantPrefixedKeys(), topic.tenantPrefixedKeys());
            same(declaration, "lanes", declaration.lanes(), topic.lanes());
            insertLanes(connection, topic);
            if (topic.removed()) {
                sql.update(connection, RESTORE, binder -> binder.integer(topic.id()));
            }
        }
    }

    private static void same(TopicDeclaration declaration, String property, Object here, Object there) {
        if (!here.equals(there)) {
            throw new InvalidConfigurationException(
                    "topic." + declaration.name() + "." + property,
                    "is " + here + " here but " + there
                            + " in the database: every process must declare the topic in the same way");
        }
    }

    /** Inserts the missing lanes. A process may have died between the insert of the topic and the inserts of its lanes. */
    private void insertLanes(Connection connection, RegisteredTopic topic) throws SQLException {
        int present = sql.query(connection, COUNT_LANES, binder -> binder.integer(topic.id()), row -> {
            row.next();
            return row.getInt(1);
        });
        for (int lane = 0; present < topic.lanes() && lane < topic.lanes(); lane++) {
            int number = lane;
            unlessThere(() -> sql.update(
                    connection,
                    INSERT_LANE,
                    binder -> binder.integer(topic.id()).integer(number)));
        }
    }

    @FunctionalInterface
    private interface Insertion {
        void run() throws SQLException;
    }

    private static void unlessThere(Insertion insertion) throws SQLException {
        try {
            insertion.run();
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicateKey(e)) {
                throw e;
            }
        }
    }

    private RegisteredTopic insert(Connection connection, TopicDeclaration declaration) throws SQLException {
        TopicName name = declaration.name();
        unlessThere(() -> sql.update(
                connection,
                INSERT,
                binder -> binder.text(name.namespace())
                        .text(name.topic())
                        .integer(declaration.lanes())
                        .flag(declaration.tenantPrefixedKeys())));
        return require(connection, name);
    }
}
