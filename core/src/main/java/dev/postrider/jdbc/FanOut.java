package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.internal.ErrorText;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Enqueued;
import dev.postrider.store.Accepted;
import dev.postrider.store.DeadReason;
import dev.postrider.store.InboxHandler;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Gives received messages to the handlers of their consumer: each handler has a row of its own in a topic of its own, so that what
 * becomes of it is nobody else's business. Nothing is lost: what has no handler is kept as a dead letter of the consumer. Works in the
 * transaction of a unit of work. Thread-safe.
 */
final class FanOut {

    private static final String BURY = """
            UPDATE {message} SET state = 'DEAD', reason = ?, last_error = ?, fingerprint = ?, updated_at = {now}
            WHERE id = ? AND state = 'PENDING'
            """;

    private final Dialect dialect;
    private final Topics topics;
    private final JdbcOutbox outboxes;
    private final JdbcInboxStore marks;
    private final InboxHandlers handlers;
    private final int errorLimit;

    FanOut(Dialect dialect, Topics topics, JdbcOutbox outboxes, JdbcInboxStore marks, int errorLimit) {
        this.dialect = dialect;
        this.topics = topics;
        this.outboxes = outboxes;
        this.marks = marks;
        this.handlers = new InboxHandlers(dialect);
        this.errorLimit = errorLimit;
    }

    /** Marks the messages, and gives the new ones to their handlers. Tells nobody: it may have to be done again. */
    Accepted receive(JdbcUnitOfWork unit, String consumer, List<Message> received) throws SQLException {
        Connection connection = unit.connection();
        TopicName own = InboxHandler.consumerTopic(consumer);
        topics.require(connection, own);
        Accepted accepted = marks.mark(connection, consumer, received);
        if (!accepted.fresh().isEmpty()) {
            give(unit, consumer, accepted.fresh());
        }
        for (Accepted.Known collided : accepted.collisions()) {
            Message message = Origin.queued(collided.message(), own, MessageId.next(), false);
            bury(connection, message, DeadReason.COLLISION, "Another message has the same id and another payload");
        }
        return accepted;
    }

    private void give(JdbcUnitOfWork unit, String consumer, List<Message> fresh) throws SQLException {
        Connection connection = unit.connection();
        List<InboxHandler> registered = handlers.of(connection, consumer);
        List<Message> rows = new ArrayList<>();
        for (Message message : fresh) {
            List<Message> ofMessage = rows(connection, registered, message, message.id());
            rows.addAll(ofMessage);
            if (ofMessage.isEmpty()) {
                keep(connection, consumer, message);
            }
        }
        unit.stageReceived(rows);
    }

    private List<Message> rows(
            Connection connection, List<InboxHandler> registered, Message message, MessageId identity)
            throws SQLException {
        Set<TopicName> queues = new LinkedHashSet<>();
        for (InboxHandler handler : registered) {
            if (handler.takes(message.type())) {
                queues.add(handler.topic());
            }
        }
        List<Message> rows = new ArrayList<>();
        for (TopicName queue : queues) {
            boolean ordered = topics.require(connection, queue).lanes() > 0;
            rows.add(Origin.queued(message, queue, Origin.idIn(queue, message, identity), ordered));
        }
        return rows;
    }

    private void keep(Connection connection, String consumer, Message message) throws SQLException {
        TopicName own = InboxHandler.consumerTopic(consumer);
        Message row = Origin.queued(message, own, Origin.idIn(own, message, message.id()), false);
        bury(connection, row, DeadReason.NO_HANDLER, noHandler(consumer, message));
    }

    private static String noHandler(String consumer, Message message) {
        return "Consumer '" + consumer + "' has no handler for messages of type '" + message.type() + "'";
    }

    private void bury(Connection connection, Message row, DeadReason reason, String error) throws SQLException {
        Enqueued written = outboxes.write(connection, List.of(row), null).get(0);
        if (written.isDuplicate()) {
            return; // it lies there already, and its mark was purged since
        }
        String text = ErrorText.clean(error, errorLimit);
        int met = dialect.update(
                connection,
                BURY,
                binder -> binder.text(reason.name())
                        .text(text)
                        .text(ErrorText.fingerprint(reason.name(), text))
                        .uuid(row.id().value()));
        LockingDialect.expect(1, met, "keep a received message as a dead letter");
    }

    /**
     * Gives a dead letter of the consumer, which an operator replayed, to the handlers that there are now.
     *
     * @throws InvalidConfigurationException when there is still none
     */
    void route(JdbcUnitOfWork unit, String consumer, Message row) throws SQLException {
        Message message = Origin.original(row);
        Connection connection = unit.connection();
        List<Message> rows = rows(connection, handlers.of(connection, consumer), message, row.id());
        if (rows.isEmpty()) {
            throw new InvalidConfigurationException(
                    "inbox." + consumer, "is incomplete: " + noHandler(consumer, message) + ". Declare one and replay");
        }
        unit.stageReceived(rows);
    }
}
