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
import java.util.Comparator;
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

    private static final String TOO_OLD =
            "The id is older than the marks that are kept, so that nobody can tell whether the message was handled before";

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

    /** A message that no handler gets, and why. */
    private record Kept(Message row, DeadReason reason, String error) {}

    /**
     * Marks the messages, and gives the new ones to their handlers. Messages that are neither new nor duplicates become dead letters of
     * the consumer. Listeners hear of all this after the commit.
     */
    Accepted receive(JdbcUnitOfWork unit, String consumer, List<Message> received) throws SQLException {
        Connection connection = unit.connection();
        TopicName own = InboxHandler.consumerTopic(consumer);
        topics.require(connection, own);
        Accepted accepted = marks.mark(connection, consumer, received);
        if (!accepted.fresh().isEmpty()) {
            give(unit, consumer, accepted.fresh());
        }
        for (Kept kept : unhandled(own, accepted)) {
            bury(connection, kept.row(), kept.reason(), kept.error());
        }
        unit.afterCommit(() -> marks.report(consumer, accepted));
        return accepted;
    }

    /** In the order of their ids: two receivers of the same messages do not deadlock. */
    private static List<Kept> unhandled(TopicName own, Accepted accepted) {
        List<Kept> kept = new ArrayList<>();
        for (Accepted.Known collided : accepted.collisions()) {
            Message row = Origin.kept(collided.message(), own);
            kept.add(new Kept(row, DeadReason.COLLISION, "Another message has the same id and another payload"));
        }
        for (Message old : accepted.tooOld()) {
            kept.add(new Kept(Origin.kept(old, own), DeadReason.TOO_OLD, TOO_OLD));
        }
        kept.sort(Comparator.comparing(each -> each.row().id()));
        return kept;
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
            return; // it was kept before, and came again
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
