package dev.postrider.jdbc.inbox;

import dev.postrider.inbox.Accepted;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.internal.store.NoHandlerException;
import dev.postrider.jdbc.outbox.JdbcOutbox;
import dev.postrider.jdbc.outbox.JdbcUnitOfWork;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Enqueued;
import dev.postrider.store.DeadReason;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Distributes received messages to the handlers of their consumer. Each handler gets a row of its own in a topic of its own, so that
 * handlers do not affect each other. No message is lost: a message without a handler becomes a dead letter of the consumer. Works in
 * the transaction of a unit of work. Thread-safe.
 */
public final class FanOut {

    private static final String BURY = """
            UPDATE {message} SET state = 'DEAD', reason = ?, last_error = ?, fingerprint = ?, updated_at = {now}
            WHERE id = ? AND state = 'PENDING'
            """;

    private static final String TOO_OLD =
            "The id is older than the marks that are kept, so it is unknown whether the message was handled before";

    private final SqlRunner sql;
    private final Topics topics;
    private final JdbcOutbox outboxes;
    private final JdbcInboxStore marks;
    private final InboxHandlers handlers;
    private final int errorLimit;

    public FanOut(SqlRunner sql, Topics topics, JdbcOutbox outboxes, JdbcInboxStore marks, int errorLimit) {
        this.sql = sql;
        this.topics = topics;
        this.outboxes = outboxes;
        this.marks = marks;
        this.handlers = new InboxHandlers(sql);
        this.errorLimit = errorLimit;
    }

    JdbcInboxStore marks() {
        return marks;
    }

    /** A message that no handler receives, and the reason. */
    private record Unrouted(Message row, DeadReason reason, String error) {}

    /**
     * Marks the messages, and distributes the new ones to their handlers. Messages that are neither new nor duplicates become dead
     * letters of the consumer. Listeners receive the events after the commit.
     */
    public Accepted receive(JdbcUnitOfWork unit, String consumer, List<Message> received) throws SQLException {
        Connection connection = unit.connection();
        TopicName own = InboxHandler.consumerTopic(consumer);
        topics.require(connection, own);
        Accepted accepted = marks.mark(connection, consumer, received);
        List<Message> unhandled = accepted.fresh().isEmpty() ? List.of() : give(unit, consumer, accepted.fresh());
        for (Unrouted kept : refused(consumer, own, accepted)) {
            bury(connection, kept.row(), kept.reason(), kept.error());
        }
        unit.afterCommit(() -> {
            marks.report(consumer, accepted);
            marks.reportUnhandled(consumer, unhandled);
        });
        return accepted;
    }

    /** Sorts by id, so that two receivers of the same messages do not deadlock. */
    private List<Unrouted> refused(String consumer, TopicName own, Accepted accepted) {
        List<Unrouted> kept = new ArrayList<>();
        for (Accepted.Known collided : accepted.collisions()) {
            Message row = kept(consumer, own, collided.message());
            kept.add(new Unrouted(row, DeadReason.COLLISION, "Another message has the same id and another payload"));
        }
        for (Message old : accepted.tooOld()) {
            kept.add(new Unrouted(kept(consumer, own, old), DeadReason.TOO_OLD, TOO_OLD));
        }
        kept.sort(Comparator.comparing(each -> each.row().id()));
        return kept;
    }

    private Message kept(String consumer, TopicName own, Message received) {
        return InboxEnvelope.kept(received, own, marks.hash(consumer, received).stored());
    }

    /** @return the messages without a handler; each is a dead letter now */
    private List<Message> give(JdbcUnitOfWork unit, String consumer, List<Message> fresh) throws SQLException {
        Connection connection = unit.connection();
        List<InboxHandler> registered = handlers.of(connection, consumer);
        List<Message> rows = new ArrayList<>();
        List<Message> unhandled = new ArrayList<>();
        for (Message message : fresh) {
            List<Message> ofMessage = rows(connection, registered, message, message.id());
            rows.addAll(ofMessage);
            if (ofMessage.isEmpty()) {
                keep(connection, consumer, message);
                unhandled.add(message);
            }
        }
        unit.stageReceived(rows);
        return unhandled;
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
            rows.add(InboxEnvelope.queued(message, queue, InboxEnvelope.idIn(queue, message, identity), ordered));
        }
        return rows;
    }

    private void keep(Connection connection, String consumer, Message message) throws SQLException {
        TopicName own = InboxHandler.consumerTopic(consumer);
        Message row = InboxEnvelope.queued(message, own, InboxEnvelope.idIn(own, message, message.id()), false);
        bury(connection, row, DeadReason.NO_HANDLER, noHandler(consumer, message));
    }

    private static String noHandler(String consumer, Message message) {
        return "Consumer '" + consumer + "' has no handler for messages of type '" + message.type()
                + "': declare one, start it and replay the message";
    }

    private void bury(Connection connection, Message row, DeadReason reason, String error) throws SQLException {
        Enqueued written = outboxes.write(connection, List.of(row)).get(0);
        if (written.isDuplicate()) {
            return; // a redelivery: the dead letter exists
        }
        String text = ErrorText.clean(error, errorLimit);
        int met = sql.update(
                connection,
                BURY,
                binder -> binder.text(reason.name())
                        .text(text)
                        .text(ErrorText.fingerprint(reason.name(), text))
                        .uuid(row.id().value()));
        SqlRunner.expect(1, met, "keep a received message as a dead letter");
    }

    /**
     * Distributes a dead letter of the consumer, which an operator replayed, to the current handlers.
     *
     * @throws NoHandlerException when there is still no handler
     */
    public void route(JdbcUnitOfWork unit, String consumer, Message row) throws SQLException {
        Message message = InboxEnvelope.original(row);
        Connection connection = unit.connection();
        List<Message> rows = rows(connection, handlers.of(connection, consumer), message, row.id());
        if (rows.isEmpty()) {
            throw new NoHandlerException(noHandler(consumer, message));
        }
        unit.stageReceived(rows);
    }
}
