package dev.postrider.jdbc;

import dev.postrider.error.StoreException;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.outbox.LaneHash;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Runs the statements of lanes, each by itself or in a transaction as the database requires. Thread-safe. */
final class LaneTable {

    final LaneDialect sql;
    private final Sessions sessions;
    private final Topics topics;

    LaneTable(Sessions sessions, LaneDialect sql, Topics topics) {
        this.sessions = sessions;
        this.sql = sql;
        this.topics = topics;
    }

    /** Runs the body as single statements if the database works so, otherwise in a transaction. */
    <T> T run(String doing, Sessions.Body<T> body) {
        return sessions.change(doing, body);
    }

    <T> T statement(String doing, Sessions.Body<T> body) {
        return sessions.statement(doing, body);
    }

    <T> T transaction(String doing, Sessions.Body<T> body) {
        return sessions.transaction(doing, body);
    }

    /** Returns the topic, ordered or unordered. */
    Topics.RegisteredTopic topic(TopicName name) {
        return topics.known(name)
                .orElseGet(() -> sessions.statement("look up a topic", connection -> topics.require(connection, name)));
    }

    int topicId(TopicName name) {
        Topics.RegisteredTopic topic = topic(name);
        if (topic.lanes() == 0) {
            throw new StoreException("Topic '" + name + "' is unordered and has no lanes", null);
        }
        return topic.id();
    }

    /**
     * The keys without a head that another session has kept from getting one.
     *
     * @param lockedHeads by lane: the messages that should have become heads, and whose rows are locked
     * @param lockedLanes the lanes that are locked
     */
    record Unpromoted(Map<Integer, Set<Long>> lockedHeads, Set<Integer> lockedLanes) {}

    /**
     * Makes the next message the head of each key without a head. A lost owner may have handled a message without promoting the
     * next message of its key. The next owner may have released the lane before it did so, and no row records that. So every
     * lane is checked.
     */
    Unpromoted promoteMissingHeads(int topicId, Collection<Integer> lanes) {
        Set<Integer> headless = lanes.isEmpty()
                ? Set.of()
                : sessions.statement(
                        "find keys without a head",
                        connection -> sql.heads().lanesWithoutHeads(connection, topicId, lanes));
        return promoteHeads(topicId, headless);
    }

    /** Makes the next message the head of each key without a head, in these lanes. */
    Unpromoted promoteHeads(int topicId, Set<Integer> lanes) {
        Map<Integer, Set<Long>> lockedHeads = new HashMap<>();
        Set<Integer> lockedLanes = new HashSet<>();
        for (int lane : lanes) {
            sessions.transaction(
                            "promote heads", connection -> sql.heads().promoteMissingHeads(connection, topicId, lane))
                    .ifPresentOrElse(heads -> lockedHeads.put(lane, heads), () -> lockedLanes.add(lane));
        }
        return new Unpromoted(lockedHeads, lockedLanes);
    }

    /** Makes the next message the head of the key, after this message was removed. Empty if another session has locked the lane. */
    Optional<KeyHeads.Promotion> promoteNext(Message message) {
        int topicId = topicId(message.topic());
        OrderingKey key = OrderingKey.of(message);
        int lanes =
                topics.known(message.topic()).map(Topics.RegisteredTopic::lanes).orElse(0);
        int lane = LaneHash.of(key.tenant(), key.key(), lanes);
        return sessions.transaction(
                "promote a head", connection -> sql.heads().promoteNext(connection, topicId, lane, key));
    }
}
