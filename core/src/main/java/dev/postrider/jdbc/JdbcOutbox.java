package dev.postrider.jdbc;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.StoreException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.store.OrderingKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes on the caller's connection. One object for all: what belongs to a connection is in {@link #on}. */
final class JdbcOutbox {

    /** How often a key may be purged between finding it taken and reading who took it, before something else is wrong. */
    private static final int PURGE_RACES = 5;

    /** More rows in one statement are no faster (docs/decisions/0012), and there are limits on parameters. */
    static final int ROWS_PER_STATEMENT = 500;

    /** Of payload and headers. A quarter of the least packet a server takes by default, since escaping may double them. */
    private static final long BYTES_PER_STATEMENT = 4L << 20;

    private final Dialect dialect;
    private final Topics topics;
    private final JdbcOptions options;
    private final OwnConnections own;
    private final EventListener events;

    JdbcOutbox(Dialect dialect, Topics topics, JdbcOptions options, String ownAddress, EventListener events) {
        this.dialect = dialect;
        this.topics = topics;
        this.options = options;
        this.own = new OwnConnections(ownAddress);
        this.events = events;
    }

    Outbox on(Connection connection) {
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
            List<Message> batch = List.copyOf(messages);
            refuseReserved(batch);
            return write(connection, batch, null);
        }
    }

    /** Only the inbox writes to its own topics. */
    static void refuseReserved(Collection<Message> messages) {
        for (Message message : messages) {
            if (message != null && message.topic().isOfInbox()) {
                throw new InvalidMessageException(
                        "topic",
                        "'" + message.topic() + "' belongs to the inbox: let inbox(consumer).receive(…) write to it");
            }
        }
    }

    /** @param birth which of them to insert under a lease, and is told of those that were */
    List<Enqueued> write(Connection connection, List<Message> messages, @Nullable Birth birth) {
        try {
            checkUsable(connection);
            List<NewRow> rows = new ArrayList<>(messages.size());
            for (Message message : messages) {
                rows.add(checked(connection, message));
            }
            boolean severalStatements = !rows.isEmpty() && endOfStatement(rows, 0) < rows.size();
            return severalStatements && !dialect.errorEndsTransaction()
                    ? insertAllOrNone(connection, rows, birth)
                    : insertAll(connection, rows, birth);
        } catch (SQLException e) {
            throw failed(connection, "write the message", e);
        }
    }

    private List<Enqueued> insertAll(Connection connection, List<NewRow> rows, @Nullable Birth birth)
            throws SQLException {
        List<Enqueued> answers = new ArrayList<>(rows.size());
        for (int start = 0; start < rows.size(); start = answers.size()) {
            answers.addAll(insert(connection, rows.subList(start, endOfStatement(rows, start)), birth));
        }
        return answers;
    }

    /** A caller who swallows the error of a later statement and commits must not commit what the earlier ones wrote. */
    private List<Enqueued> insertAllOrNone(Connection connection, List<NewRow> rows, @Nullable Birth birth)
            throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            List<Enqueued> answers = insertAll(connection, rows, birth);
            connection.releaseSavepoint(before);
            return answers;
        } catch (Throwable e) {
            undo(connection, before, e);
            throw e;
        }
    }

    private static void undo(Connection connection, Savepoint before, Throwable reason) {
        try {
            connection.rollback(before);
        } catch (SQLException e) {
            reason.addSuppressed(e);
            Sessions.rollback(connection, reason);
        }
    }

    /** At least one row, and as many more as fit. */
    private static int endOfStatement(List<NewRow> rows, int start) {
        int end = start + 1;
        long bytes = rows.get(start).bytes();
        while (end < rows.size() && end - start < ROWS_PER_STATEMENT) {
            bytes += rows.get(end).bytes();
            if (bytes > BYTES_PER_STATEMENT) {
                break;
            }
            end++;
        }
        return end;
    }

    /** What can be known of a message before commit, here and when it is staged. */
    NewRow checked(Connection connection, Message message) throws SQLException {
        int size = message.payload().size();
        if (size > options.maxPayloadBytes()) {
            throw new InvalidMessageException(
                    "payload",
                    "has " + size + " bytes, at most " + options.maxPayloadBytes()
                            + " are allowed: store it elsewhere and send a reference, or raise max-payload-bytes (up to 64 MiB)");
        }
        Topics.Topic topic = topics.require(connection, message.topic());
        String tenant = message.tenant();
        String key = message.idempotencyKey();
        if (topic.tenantPrefixedKeys() && tenant != null && key != null && !key.startsWith(tenant + "/")) {
            throw new InvalidMessageException(
                    "idempotency key", "must begin with '" + tenant + "/' on topic '" + message.topic() + "'");
        }
        return NewRow.of(message, topic);
    }

    void checkUsable(Connection connection) throws SQLException {
        if (connection == null || connection.isClosed()) {
            throw new UnusableConnectionException(Problem.CLOSED);
        }
        if (connection.getAutoCommit()) {
            throw new UnusableConnectionException(Problem.AUTOCOMMIT);
        }
        if (!dialect.asksServerIfReadOnly() && connection.isReadOnly()) {
            throw new UnusableConnectionException(Problem.READ_ONLY);
        }
        String foreign = own.foreignAddress(connection);
        if (foreign != null) {
            throw new UnusableConnectionException(
                    Problem.FOREIGN,
                    " (it leads to " + Urls.shown(foreign) + ", the data source to " + Urls.shown(own.ownAddress())
                            + ")",
                    null);
        }
    }

    private List<Enqueued> insert(Connection connection, List<NewRow> rows, @Nullable Birth birth) throws SQLException {
        Set<UUID> inserted = dialect.insert(connection, rows, birth);
        return inserted.size() == rows.size()
                ? rows.stream().map(JdbcOutbox::created).toList()
                : answers(connection, rows, new HashSet<>(inserted));
    }

    private List<Enqueued> answers(Connection connection, List<NewRow> rows, Set<UUID> inserted) throws SQLException {
        List<NewRow> refused =
                rows.stream().filter(row -> !inserted.contains(row.id())).toList();
        Map<NewRow.Mark, FirstUse> first = firstUses(connection, rows, refused, inserted);
        List<Enqueued> answers = new ArrayList<>(rows.size());
        for (NewRow row : rows) {
            // Taken out when met: the same message given twice is created once.
            answers.add(inserted.remove(row.id()) ? created(row) : duplicate(row, first));
        }
        return answers;
    }

    /** Who took the keys. A key that was purged meanwhile is free again, and its message goes in after all. */
    private Map<NewRow.Mark, FirstUse> firstUses(
            Connection connection, List<NewRow> rows, List<NewRow> refused, Set<UUID> inserted) throws SQLException {
        List<NewRow> keyed = refused.stream().filter(row -> row.mark() != null).toList();
        if (keyed.isEmpty()) {
            return Map.of();
        }
        for (int race = 0; race < PURGE_RACES; race++) {
            Map<NewRow.Mark, FirstUse> found = dialect.firstUses(
                    connection, keyed.stream().map(NewRow::requireMark).toList());
            List<NewRow> freed = keyed.stream()
                    .filter(row -> !inserted.contains(row.id()))
                    .filter(row -> !found.containsKey(row.requireMark()))
                    .toList();
            if (freed.isEmpty()) {
                return found;
            }
            refuseToOvertake(rows, freed, inserted);
            inserted.addAll(dialect.insert(connection, freed, null));
        }
        throw new StoreException("An idempotency key is neither taken nor free: run the transaction again", null);
    }

    private record KeyOfTopic(int topicId, OrderingKey key) {}

    /**
     * A message that goes in now comes after the others of its statement. If a later one of its ordering key is among them, their order
     * would be broken, so the transaction has to be run again.
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
                        "The idempotency key of a message was purged while the message was written, which would put it behind later"
                                + " messages of its ordering key",
                        "40001");
            }
        }
    }

    private static Enqueued created(NewRow row) {
        return new Enqueued.Created(row.message().id(), row.message().effectiveKey());
    }

    private Enqueued duplicate(NewRow row, Map<NewRow.Mark, FirstUse> first) {
        Message message = row.message();
        NewRow.Mark mark = row.mark();
        FirstUse use = mark == null ? null : first.get(mark);
        Enqueued.Duplicate answer = use == null || mark == null
                ? new Enqueued.Duplicate(message.id(), message.effectiveKey(), true)
                : new Enqueued.Duplicate(use.id(), message.effectiveKey(), use.samePayload(mark));
        events.on(new Event.Duplicate(message, answer.firstId(), answer.samePayload()));
        return answer;
    }

    /**
     * A lock wait timeout rolls back no more than its statement on MySQL and MariaDB: whoever swallowed the error and committed
     * would keep the business rows without the message. So the transaction ends here.
     */
    RuntimeException failed(Connection connection, String doing, SQLException e) {
        RuntimeException translated = SqlErrors.translateInTransaction(doing, e);
        if (SqlErrors.isConflict(e)) {
            Sessions.rollback(connection, translated);
        } else if (dialect.asksServerIfReadOnly() && isReadOnly(connection, e)) {
            return new UnusableConnectionException(Problem.READ_ONLY, "", e);
        }
        return translated;
    }

    private static boolean isReadOnly(Connection connection, SQLException reason) {
        try {
            return connection.isReadOnly();
        } catch (SQLException e) {
            reason.addSuppressed(e);
            return false;
        }
    }
}
