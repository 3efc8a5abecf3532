package dev.postrider.jdbc;

import dev.postrider.admin.Change;
import dev.postrider.admin.Repair;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.jdbc.inbox.InboxHandlers;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/** Operators' actions on topics: pause, resume, remove, and the retirement of a handler with its topic. Thread-safe. */
final class TopicActions {

    private static final String PAUSE = "UPDATE {topic} SET paused = ? WHERE namespace = ? AND topic = ?";

    private static final String REMOVE = """
            UPDATE {topic} SET removed_at = {now}
            WHERE namespace = ? AND topic = ? AND removed_at IS NULL
              AND NOT EXISTS (SELECT 1 FROM {message} m WHERE m.topic_id = {topic}.id)
            """;

    private static final String TOPIC = "SELECT 1 FROM {topic} WHERE namespace = ? AND topic = ?";

    private final Sessions sessions;
    private final SqlRunner sql;
    private final Topics topics;
    private final StatusReads status;
    private final AuditLog audit;

    TopicActions(Sessions sessions, SqlRunner sql, Topics topics, StatusReads status, AuditLog audit) {
        this.sessions = sessions;
        this.sql = sql;
        this.topics = topics;
        this.status = status;
        this.audit = audit;
    }

    void setPaused(TopicName topic, boolean paused, Change change) {
        String action = paused ? "PAUSE" : "RESUME";
        sessions.transaction(action, connection -> {
            int matched = sql.update(connection, PAUSE, binder -> named(binder.flag(paused), topic));
            // Some drivers count changed rows instead of matched rows, so a second pause may return 0.
            if (matched == 0 && !sql.query(connection, TOPIC, binder -> named(binder, topic), ResultSet::next)) {
                throw new UnknownTopicException(topic.toString());
            }
            audit.record(connection, change, action, topic, null);
            return true;
        });
    }

    Repair remove(TopicName topic, Change change) {
        return sessions.transaction("REMOVE", connection -> {
            Optional<Topics.RegisteredTopic> found = topics.find(connection, topic);
            if (found.isEmpty() || found.get().removed()) {
                return Repair.NOT_FOUND;
            }
            boolean delivered = status.liveNodes(connection).containsKey(topic);
            if (delivered || sql.update(connection, REMOVE, binder -> named(binder, topic)) == 0) {
                return Repair.IN_USE;
            }
            audit.record(connection, change, "REMOVE", topic, null);
            return Repair.DONE;
        });
    }

    int retire(String consumer, String handler, Change change) {
        TopicName queue = InboxHandler.topic(consumer, handler);
        Topics.RegisteredTopic registered = sessions.transaction("retire a handler", connection -> {
            Topics.RegisteredTopic topic = topics.require(connection, queue);
            if (new InboxHandlers(sql).remove(connection, consumer, handler)) {
                audit.record(connection, change, "RETIRE", queue, null);
            }
            return topic;
        });
        return new HandlerRetirement(sessions, sql).bury(registered);
    }

    private static Binder named(Binder binder, TopicName topic) throws SQLException {
        return binder.text(topic.namespace()).text(topic.topic());
    }
}
