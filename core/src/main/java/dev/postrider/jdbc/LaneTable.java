package dev.postrider.jdbc;

import dev.postrider.error.StoreException;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.OrderingKey;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The statements of lanes, each run the way the database wants it. Thread-safe. */
final class LaneTable {

    final LaneStatements statements;
    private final Sessions sessions;
    private final Dialect dialect;
    private final Topics topics;

    LaneTable(Sessions sessions, Dialect dialect, Topics topics) {
        this.sessions = sessions;
        this.dialect = dialect;
        this.statements = dialect.lanes(sessions.lockTimeout());
        this.topics = topics;
    }

    /** By itself if that is enough for it, in a transaction otherwise. */
    <T> T run(String doing, Sessions.Body<T> body) {
        return dialect.worksInSingleStatements() ? sessions.statement(doing, body) : sessions.transaction(doing, body);
    }

    <T> T statement(String doing, Sessions.Body<T> body) {
        return sessions.statement(doing, body);
    }

    <T> T transaction(String doing, Sessions.Body<T> body) {
        return sessions.transaction(doing, body);
    }

    /** Ordered or not. */
    Topics.Topic topic(TopicName name) {
        return topics.known(name)
                .orElseGet(() -> sessions.statement("look up a topic", connection -> topics.require(connection, name)));
    }

    int topicId(TopicName name) {
        Topics.Topic topic = topic(name);
        if (topic.lanes() == 0) {
            throw new StoreException("Topic '" + name + "' is unordered and has no lanes", null);
        }
        return topic.id();
    }

    /**
     * A lost holder may have handled a message, and not have got to the next one of its key. Whoever took the lane after him and gave
     * it back may not have got there either, and nothing tells of that: so every lane is looked at.
     *
     * @return by lane: the messages that should have become heads, and that somebody has locked
     */
    Map<Integer, Set<Long>> goOnWithoutHeads(int topicId, Collection<Integer> lanes) {
        Set<Integer> headless = lanes.isEmpty()
                ? Set.of()
                : sessions.statement(
                        "look for keys without a head",
                        connection -> statements.lanesWithoutHeads(connection, topicId, lanes));
        Map<Integer, Set<Long>> locked = new HashMap<>();
        for (int lane : headless) {
            locked.put(
                    lane,
                    sessions.transaction(
                            "go on with keys", connection -> statements.goOnWithoutHeads(connection, topicId, lane)));
        }
        return locked;
    }

    LaneStatements.Promotion goOnWithout(Message message) {
        int topicId = topicId(message.topic());
        OrderingKey key = OrderingKey.of(message);
        int lanes = topics.known(message.topic()).map(Topics.Topic::lanes).orElse(0);
        int lane = LaneHash.of(key.tenant(), key.key(), lanes);
        return sessions.transaction(
                "go on with a key", connection -> statements.goOnWithout(connection, topicId, lane, key));
    }
}
