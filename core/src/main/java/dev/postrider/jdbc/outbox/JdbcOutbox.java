package dev.postrider.jdbc.outbox;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.StoreException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes messages on the caller's connection. One object serves all connections; {@link #on} binds it to one. Thread-safe. */
public final class JdbcOutbox {

    /** How often a key may be purged between the refused insert and the read of its first use. More races indicate another fault. */
    private static final int PURGE_RACES = 5;

    /** Of payload and headers: a quarter of the smallest default packet limit of a server, because escaping may double the size. */
    private static final long BYTES_PER_STATEMENT = 4L << 20;

    private final InsertStatements inserts;
    private final InsertUndo undo;
    private final MessageCancellation cancellation;
    private final MessageCheck check;
    private final CallerConnections connections;
    private final EventListener events;

    /** The statements that run on the caller's connection. */
    record Statements(InsertStatements inserts, InsertUndo undo, MessageCancellation cancellation) {}

    JdbcOutbox(Statements statements, MessageCheck check, CallerConnections connections, EventListener events) {
        this.inserts = statements.inserts();
        this.undo = statements.undo();
        this.cancellation = statements.cancellation();
        this.check = check;
        this.connections = connections;
        this.events = events;
    }

    public static JdbcOutbox of(
            SqlRunner sql,
            InsertStatements inserts,
            StorageOptions options,
            CallerConnections connections,
            EventListener events) {
        MessageCheck check = new MessageCheck(new Topics(sql), options, SafeTracing.NONE);
        Statements statements = new Statements(inserts, new InsertUndo(sql), new MessageCancellation(sql));
        return new JdbcOutbox(statements, check, connections, events);
    }

    /** Returns an outbox that adds the trace context of the writer to messages without one. */
    public JdbcOutbox tracedBy(SafeTracing tracing) {
        return new JdbcOutbox(
                new Statements(inserts, undo, cancellation), check.tracedBy(tracing), connections, events);
    }

    /** The registered topics, which all users of this database share. */
    public Topics topics() {
        return check.topics();
    }

    MessageCheck check() {
        return check;
    }

    public CallerConnections connections() {
        return connections;
    }

    public Outbox on(Connection connection) {
        return new Bound(connection);
    }

    private final class Bound implements Outbox {

        private final Connection connection;

        Bound(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Enqueued enqueue(Message message) {
            if (message == null) {
                throw new InvalidMessageException("message", "is missing");
            }
            return enqueueAll(List.of(message)).get(0);
        }

        @Override
        public List<Enqueued> enqueueAll(Collection<Message> messages) {
            List<Message> batch = batch(messages);
            refuseReserved(batch);
            return write(connection, batch);
        }

        @Override
        public Cancellation cancel(MessageId id) {
            requirePresent("id", id);
            return cancelled(connection, cancellation -> cancellation.cancel(connection, id));
        }

        @Override
        public Cancellation cancel(TopicName topic, @Nullable String tenant, String idempotencyKey) {
            requirePresent("topic", topic);
            requirePresent("idempotency key", idempotencyKey);
            return cancelled(
                    connection,
                    cancellation -> cancellation.cancel(
                            connection, topics().require(connection, topic), tenant, idempotencyKey));
        }
    }

    private static void requirePresent(String field, @Nullable Object value) {
        if (value == null) {
            throw new InvalidMessageException(field, "is missing");
        }
    }

    @FunctionalInterface
    private interface CancelStatements {
        Cancellation run(MessageCancellation cancellation) throws SQLException;
    }

    private Cancellation cancelled(Connection connection, CancelStatements statements) {
        try {
            connections.checkUsable(connection);
            return statements.run(cancellation);
        } catch (SQLException e) {
            throw connections.failed(connection, "cancel the message", e);
        }
    }

    /** Returns a copy. Refuses null and null elements. */
    static List<Message> batch(@Nullable Collection<Message> messages) {
        if (messages == null) {
            throw new InvalidMessageException("messages", "are missing: pass an empty list for no messages");
        }
        List<Message> batch = new ArrayList<>(messages.size());
        for (Message message : messages) {
            if (message == null) {
                throw new InvalidMessageException("message", "is missing at position " + batch.size());
            }
            batch.add(message);
        }
        return batch;
    }

    /** Refuses messages for the topics of the inbox: only the inbox writes to them. */
    static void refuseReserved(Collection<Message> messages) {
        for (Message message : messages) {
            if (message != null && message.topic().isOfInbox()) {
                throw new InvalidMessageException(
                        "topic",
                        "'" + message.topic() + "' belongs to the inbox: let inbox(consumer).receive(…) write to it");
            }
        }
    }

    /** Writes messages in the transaction of the connection: all or none. */
    public List<Enqueued> write(Connection connection, List<Message> messages) {
        try {
            connections.checkUsable(connection);
            return insertRows(connection, check.checked(connection, messages), null);
        } catch (SQLException e) {
            throw connections.failed(connection, "write the message", e);
        }
    }

    /**
     * Writes checked messages in the transaction of the connection: all or none.
     *
     * @param leasedInsert selects the messages to insert under a lease, and receives those that were; null for none
     */
    List<Enqueued> writeRows(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert) {
        try {
            connections.checkUsable(connection);
            return insertRows(connection, rows, leasedInsert);
        } catch (SQLException e) {
            throw connections.failed(connection, "write the message", e);
        }
    }

    /**
     * Writes checked messages and commits, in one request.
     *
     * @return the answers; null if the transaction is not committed and the messages are not written
     */
    @Nullable
    List<Enqueued> writeRowsAndCommit(
            Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert, InsertAndCommit insert) {
        try {
            connections.checkUsable(connection);
            return insert.run(connection, rows, leasedInsert)
                    ? rows.stream().map(JdbcOutbox::created).toList()
                    : null;
        } catch (SQLException e) {
            throw connections.failed(connection, OwnTransaction.DOING, e);
        }
    }

    private List<Enqueued> insertRows(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        refuseOneIdForTwo(rows);
        boolean severalStatements = !rows.isEmpty() && endOfStatement(rows, 0) < rows.size();
        return severalStatements && !connections.kind().errorEndsTransaction()
                ? insertAllOrNone(connection, rows, leasedInsert)
                : insertAll(connection, rows, leasedInsert);
    }

    private List<Enqueued> insertAll(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        List<Enqueued> answers = new ArrayList<>(rows.size());
        try {
            for (int start = 0; start < rows.size(); start = answers.size()) {
                answers.addAll(insert(connection, rows.subList(start, endOfStatement(rows, start)), leasedInsert));
            }
            return answers;
        } catch (InvalidMessageException | CipherUnavailableException e) {
            takeBack(connection, rows, answers, e);
            throw e;
        }
    }

    /** Removes the rows that the earlier statements of a refused batch wrote. */
    private void takeBack(Connection connection, List<NewRow> rows, List<Enqueued> answers, Throwable reason) {
        List<NewRow> written = new ArrayList<>();
        for (int i = 0; i < answers.size(); i++) {
            if (!answers.get(i).isDuplicate()) {
                written.add(rows.get(i));
            }
        }
        takeBack(connection, written, reason);
    }

    private void takeBack(Connection connection, Collection<NewRow> written, Throwable reason) {
        try {
            for (NewRow row : written) {
                undo.takeBack(connection, row);
            }
        } catch (SQLException | RuntimeException | Error e) {
            reason.addSuppressed(e);
            Sessions.rollback(connection, reason);
        }
    }

    /** Refuses two different messages with one id in a batch. Needs no statement. */
    private static void refuseOneIdForTwo(List<NewRow> rows) {
        if (rows.size() < 2) {
            return;
        }
        Map<UUID, NewRow> first = new HashMap<>();
        for (NewRow row : rows) {
            NewRow other = first.putIfAbsent(row.id(), row);
            if (other != null && !LiveMessage.of(other).isSameMessage(LiveMessage.of(row))) {
                throw idOfAnother(row);
            }
        }
    }

    private static InvalidMessageException idOfAnother(NewRow row) {
        return new InvalidMessageException(
                "id",
                row.message().id()
                        + " belongs to another message that is not delivered yet (it differs in topic, tenant,"
                        + " idempotency key or payload): give each message a unique id, or let Postrider generate it");
    }

    /** Uses a savepoint, so that a caller that ignores the error of a later statement cannot commit the rows of earlier statements. */
    private List<Enqueued> insertAllOrNone(
            Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert) throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            List<Enqueued> answers = insertAll(connection, rows, leasedInsert);
            connection.releaseSavepoint(before);
            return answers;
        } catch (Throwable e) {
            rollbackTo(connection, before, e);
            throw e;
        }
    }

    private static void rollbackTo(Connection connection, Savepoint before, Throwable reason) {
        try {
            connection.rollback(before);
        } catch (SQLException e) {
            reason.addSuppressed(e);
            Sessions.rollback(connection, reason);
        }
    }

    /** Returns the end of the rows for one statement: at least one row, and more while they fit. */
    static int endOfStatement(List<NewRow> rows, int start) {
        int end = start + 1;
        long bytes = rows.get(start).bytes();
        while (end < rows.size() && end - start < ValueList.ROWS_PER_STATEMENT) {
            bytes += rows.get(end).bytes();
            if (bytes > BYTES_PER_STATEMENT) {
                break;
            }
            end++;
        }
        return end;
    }

    private List<Enqueued> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        Set<UUID> inserted = inserts.insert(connection, rows, leasedInsert);
        return inserted.size() == rows.size()
                ? rows.stream().map(JdbcOutbox::created).toList()
                : answers(connection, rows, new HashSet<>(inserted));
    }

    private List<Enqueued> answers(Connection connection, List<NewRow> rows, Set<UUID> inserted) throws SQLException {
        Map<NewRow.Mark, FirstUse> first = firstUses(connection, rows, inserted);
        Map<UUID, NewRow> created = new HashMap<>();
        List<Enqueued> answers = new ArrayList<>(rows.size());
        for (NewRow row : rows) {
            // Removed at the first match: the same message given twice is created once.
            if (inserted.remove(row.id())) {
                created.put(row.id(), row);
                answers.add(created(row));
            } else {
                answers.add(duplicate(row, created.get(row.id()), first));
            }
        }
        return answers;
    }

    /**
     * Returns the first uses of the keys of rows that were not inserted. A row that no key refuses is refused by its id: then
     * the same message already exists, or the batch is refused. If the key was purged meanwhile, or the message with the id was
     * delivered meanwhile, the row is inserted now.
     */
    private Map<NewRow.Mark, FirstUse> firstUses(Connection connection, List<NewRow> rows, Set<UUID> inserted)
            throws SQLException {
        Map<NewRow.Mark, FirstUse> found = new HashMap<>();
        for (int race = 0; race < PURGE_RACES; race++) {
            List<NewRow> refused =
                    rows.stream().filter(row -> !inserted.contains(row.id())).toList();
            List<NewRow.Mark> marks = refused.stream()
                    .filter(row -> row.mark() != null)
                    .map(NewRow::requireMark)
                    .toList();
            if (!marks.isEmpty()) {
                found.putAll(inserts.firstUses(connection, marks));
            }
            List<NewRow> freed = withoutLive(
                    connection,
                    rows,
                    inserted,
                    refused.stream()
                            .filter(row -> row.mark() == null || !found.containsKey(row.mark()))
                            .toList());
            if (freed.isEmpty()) {
                return found;
            }
            refuseToOvertake(rows, freed, inserted);
            inserted.addAll(inserts.insert(connection, freed, null));
        }
        throw new StoreException(
                "An idempotency key or an id is neither used nor free: run the transaction again", null);
    }

    /** Returns the rows whose id no live message has. Refuses the batch if a different live message has the id. */
    private List<NewRow> withoutLive(
            Connection connection, List<NewRow> rows, Set<UUID> inserted, List<NewRow> unexplained)
            throws SQLException {
        if (unexplained.isEmpty()) {
            return unexplained;
        }
        Map<UUID, LiveMessage> live = inserts.live(
                connection, unexplained.stream().map(NewRow::id).distinct().toList());
        List<NewRow> freed = new ArrayList<>();
        for (NewRow row : unexplained) {
            LiveMessage there = live.get(row.id());
            if (there == null) {
                freed.add(row);
            } else if (!opened(connection, there, row, rows, inserted).isSameMessage(LiveMessage.of(row))) {
                InvalidMessageException refusal = idOfAnother(row);
                takeBack(connection, written(rows, inserted), refusal);
                throw refusal;
            }
        }
        return freed;
    }

    private LiveMessage opened(
            Connection connection, LiveMessage live, NewRow row, List<NewRow> rows, Set<UUID> inserted) {
        try {
            return check.opened(live, row);
        } catch (CipherUnavailableException e) {
            takeBack(connection, written(rows, inserted), e);
            throw e;
        }
    }

    /** Returns the inserted rows, each once. */
    private static Collection<NewRow> written(List<NewRow> rows, Set<UUID> inserted) {
        Map<UUID, NewRow> written = new LinkedHashMap<>();
        rows.stream().filter(row -> inserted.contains(row.id())).forEach(row -> written.putIfAbsent(row.id(), row));
        return written.values();
    }

    private record KeyOfTopic(int topicId, OrderingKey key) {}

    /**
     * Refuses a late insert that breaks the order. A row that is inserted now gets a higher number than the other rows of its
     * statement. If a later message of its ordering key is among them, the order would be wrong. So the transaction must run
     * again.
     */
    private static void refuseToOvertake(List<NewRow> rows, List<NewRow> freed, Set<UUID> inserted)
            throws SQLException {
        Set<UUID> late = freed.stream().map(NewRow::id).collect(Collectors.toSet());
        Set<KeyOfTopic> keys = new HashSet<>();
        for (NewRow row : rows) {
            if (row.lane() == null) {
                continue;
            }
            KeyOfTopic key = new KeyOfTopic(row.topicId(), OrderingKey.of(row.message()));
            if (late.contains(row.id())) {
                keys.add(key);
            } else if (inserted.contains(row.id()) && keys.contains(key)) {
                throw new SQLException(
                        "The idempotency key of a message was purged while the message was written, so the message would come after"
                                + " later messages of its ordering key",
                        "40001");
            }
        }
    }

    private static Enqueued created(NewRow row) {
        return new Enqueued.Created(row.message().id(), row.message().effectiveKey());
    }

    /** @param same the earlier row of the same message in the batch; null if there is none */
    private Enqueued duplicate(NewRow row, @Nullable NewRow same, Map<NewRow.Mark, FirstUse> first) {
        Message message = row.message();
        NewRow.Mark mark = row.mark();
        FirstUse use = mark == null ? null : first.get(mark);
        Enqueued.Duplicate answer;
        if (use != null && mark != null) {
            answer = new Enqueued.Duplicate(use.id(), message.effectiveKey(), use.samePayload(mark));
        } else {
            // Refused by its id, and compared with the message that has this id.
            boolean samePayload = same == null || LiveMessage.of(same).samePayload(LiveMessage.of(row));
            answer = new Enqueued.Duplicate(message.id(), message.effectiveKey(), samePayload);
        }
        events.on(new Event.Duplicate(message, answer.firstId(), answer.samePayload()));
        return answer;
    }
}
