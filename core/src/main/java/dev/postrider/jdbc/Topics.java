package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.message.TopicName;
import dev.postrider.store.TopicDeclaration;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The topics registered in the database, with the numbers that stand for them in the hot indexes. What was found once is
 * remembered: a topic keeps its number for ever. Thread-safe.
 */
final class Topics {

    private static final String INSERT =
            "INSERT INTO {topic} (namespace, topic, tenant_prefixed_keys, created_at) VALUES (?, ?, ?, {now})";

    private static final String FIND = "SELECT id, tenant_prefixed_keys FROM {topic} WHERE namespace = ? AND topic = ?";

    record Topic(int id, boolean tenantPrefixedKeys) {}

    private final Dialect dialect;
    private final Map<TopicName, Topic> known = new ConcurrentHashMap<>();

    Topics(Dialect dialect) {
        this.dialect = dialect;
    }

    Optional<Topic> known(TopicName name) {
        return Optional.ofNullable(known.get(name));
    }

    /** Looks on the given connection if need be, so that enqueueing opens none of its own. */
    Topic require(Connection connection, TopicName name) throws SQLException {
        Topic topic = known.get(name);
        if (topic == null) {
            topic = find(connection, name).orElseThrow(() -> new UnknownTopicException(name.toString()));
            known.put(name, topic);
        }
        return topic;
    }

    /** Must run with autocommit on: losing the race against another node's insert must not spoil a transaction. */
    void register(Connection connection, Collection<TopicDeclaration> declarations) throws SQLException {
        for (TopicDeclaration declaration : declarations) {
            Optional<Topic> found = find(connection, declaration.name());
            Topic topic = found.isPresent() ? found.get() : insert(connection, declaration);
            if (topic.tenantPrefixedKeys() != declaration.tenantPrefixedKeys()) {
                throw new InvalidConfigurationException(
                        "topic." + declaration.name() + ".tenant-prefixed-keys",
                        "is " + declaration.tenantPrefixedKeys() + " here but " + topic.tenantPrefixedKeys()
                                + " in the database: every process must declare the topic alike");
            }
        }
    }

    private Topic insert(Connection connection, TopicDeclaration declaration) throws SQLException {
        TopicName name = declaration.name();
        try {
            dialect.update(
                    connection,
                    INSERT,
                    binder -> binder.text(name.namespace()).text(name.topic()).flag(declaration.tenantPrefixedKeys()));
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicateKey(e)) {
                throw e;
            }
        }
        return require(connection, name);
    }

    private Optional<Topic> find(Connection connection, TopicName name) throws SQLException {
        return dialect.query(
                connection,
                FIND,
                binder -> binder.text(name.namespace()).text(name.topic()),
                row -> row.next() ? Optional.of(new Topic(row.getInt(1), row.getBoolean(2))) : Optional.empty());
    }
}
