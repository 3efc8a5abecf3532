package dev.postrider.jdbc.outbox;

import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.outbox.Cancellation;
import dev.postrider.store.DeadReason;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Cancels messages in the transaction of a connection, which may be the application's. No statement waits for a row, and none locks a
 * lane: the transaction may stay open for long. Thread-safe.
 *
 * <p>A message of an unordered topic is cancelled while it is {@code PENDING}: a claim changes its state first.
 *
 * <p>The owner of a lane changes no row before it delivers. But it takes a scheduled, retrying or blocked message only when the message, or
 * the head of its key, is due, and only after it has locked the row for an instant, under which it checks that again. So a message is not in
 * flight if, while its row is locked here, its due time is in the future: no earlier read can have taken it since its last outcome, and
 * every later one finds it locked until this transaction ends. A blocked message is due with the head of its key. A message in the order of
 * its lane is due at once, so it cannot be told whether it was read.
 */
public final class MessageCancellation {

    private static final String FIND = """
            SELECT m.seq, m.state, m.reason, m.topic_id, m.lane, m.tenant, m.ordering_key FROM {message} m WHERE m.id = ?
            """;

    private static final String ARCHIVED = "SELECT 1 FROM {archive} a WHERE a.id = ? LIMIT 1";

    private static final String MARKED = "SELECT d.message_id FROM {dedup} d WHERE d.topic_id = ? AND d.key_hash = ?";

    private static final String LOCK =
            "SELECT seq FROM {message}{by key} WHERE seq = ? AND state = ? FOR UPDATE SKIP LOCKED";

    static final String CANCEL =
            "UPDATE {message} SET state = 'DEAD', reason = 'CANCELLED', updated_at = {now} WHERE seq = ? AND state = ?";

    static final String CANCEL_WAITING = """
            UPDATE {message} SET state = 'DEAD', reason = 'CANCELLED', updated_at = {now}
            WHERE seq = ? AND state = ? AND available_at > {now}
            """;

    private static final String HEAD = """
            SELECT seq, state, CASE WHEN available_at > {now} THEN 1 ELSE 0 END AS later FROM {message}
            WHERE topic_id = ? AND lane = ? AND ordering_key = ? AND {tenant} AND state IN ('RETRY', 'BLOCKED', 'PARKED')
            ORDER BY seq LIMIT 1
            """;

    private static final String PROMOTE = """
            UPDATE {message} SET state = 'RETRY', crashes = 0, available_at = {now}, updated_at = {now}
            WHERE seq = ? AND state = 'BLOCKED'
            """;

    /** On H2, where the usual expression is the time at which the transaction began: when this statement began. */
    private static final String H2_NOW =
            "(SELECT EXECUTING_STATEMENT_START FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())";

    /**
     * A message as it was found.
     *
     * @param state null for a state that other software has written
     * @param place its lane and key; null on an unordered topic
     */
    record CancelTarget(
            long seq,
            @Nullable RowState state,
            boolean cancelled,
            @Nullable KeyPlace place) {}

    /** A key in its lane. */
    public record KeyPlace(int topicId, int lane, OrderingKey key) {}

    private record LockedHead(long seq, RowState state, boolean later) {}

    private final SqlRunner sql;

    /** The time of H2 stands still in a transaction. */
    private final boolean timeStandsStill;

    public MessageCancellation(SqlRunner sql) {
        this.sql = sql;
        this.timeStandsStill = sql.kind() == DatabaseKind.H2;
    }

    /** Cancels the message with this id. */
    public Cancellation cancel(Connection connection, MessageId id) throws SQLException {
        Optional<CancelTarget> found = sql.query(
                connection,
                FIND,
                binder -> binder.uuid(id.value()),
                row -> row.next() ? Optional.of(found(row)) : Optional.empty());
        if (found.isEmpty()) {
            return isArchived(connection, id) ? Cancellation.FINISHED : Cancellation.NOT_FOUND;
        }
        return cancel(connection, found.get());
    }

    /** Cancels the message that was written with this idempotency key. Its mark shows that the message existed. */
    Cancellation cancel(Connection connection, Topics.RegisteredTopic topic, @Nullable String tenant, String key)
            throws SQLException {
        Optional<MessageId> id = find(connection, topic, tenant, key);
        if (id.isEmpty()) {
            return Cancellation.NOT_FOUND;
        }
        Cancellation answer = cancel(connection, id.get());
        return answer == Cancellation.NOT_FOUND ? Cancellation.FINISHED : answer;
    }

    /** Finds the message that was written first with an idempotency key. It may be gone. */
    public Optional<MessageId> find(
            Connection connection, Topics.RegisteredTopic topic, @Nullable String tenant, String key)
            throws SQLException {
        Optional<UUID> first = sql.query(
                connection,
                MARKED,
                binder -> binder.integer(topic.id()).bytes(NewRow.keyHash(tenant, key)),
                row -> row.next() ? Optional.of(sql.readUuid(row, 1)) : Optional.empty());
        return first.map(MessageId::new);
    }

    /** Whether the message was delivered and is still in the archive. */
    public boolean isArchived(Connection connection, MessageId id) throws SQLException {
        return sql.query(connection, ARCHIVED, binder -> binder.uuid(id.value()), ResultSet::next);
    }

    private static CancelTarget found(ResultSet row) throws SQLException {
        int lane = row.getInt("lane");
        boolean unordered = row.wasNull();
        String key = row.getString("ordering_key");
        return new CancelTarget(
                row.getLong("seq"),
                RowState.find(row.getString("state")).orElse(null),
                DeadReason.CANCELLED.name().equals(row.getString("reason")),
                unordered
                        ? null
                        : new KeyPlace(
                                row.getInt("topic_id"),
                                lane,
                                new OrderingKey(row.getString("tenant"), key == null ? "" : key)));
    }

    private Cancellation cancel(Connection connection, CancelTarget row) throws SQLException {
        RowState state = row.state();
        if (state == null) {
            return Cancellation.MAY_BE_IN_DELIVERY;
        }
        KeyPlace place = row.place();
        return switch (state) {
            case DEAD -> row.cancelled() ? Cancellation.CANCELLED : Cancellation.FINISHED;
            case PROCESSING -> Cancellation.IN_DELIVERY;
            case PENDING -> place == null ? cancelPending(connection, row.seq()) : Cancellation.MAY_BE_IN_DELIVERY;
            default -> place == null ? Cancellation.MAY_BE_IN_DELIVERY : inKey(connection, row.seq(), state, place);
        };
    }

    /** Cancels a message of an unordered topic, unless it is claimed or ended meanwhile, or locked. */
    public Cancellation cancelPending(Connection connection, long seq) throws SQLException {
        if (!lock(connection, seq, RowState.PENDING)) {
            return Cancellation.IN_DELIVERY;
        }
        SqlRunner.expect(1, cancel(connection, CANCEL, seq, RowState.PENDING), "cancel a message");
        return Cancellation.CANCELLED;
    }

    private Cancellation inKey(Connection connection, long seq, RowState state, KeyPlace place) throws SQLException {
        Cancellation answer = cancelWaiting(connection, seq, state, place);
        if (answer == Cancellation.CANCELLED && state != RowState.SCHEDULED) {
            promoteNext(connection, place);
        }
        return answer;
    }

    /**
     * Cancels a scheduled, retrying, blocked or parked message of a lane if it is certain that it is not in flight. Another message may have
     * to become the head of its key.
     */
    public Cancellation cancelWaiting(Connection connection, long seq, RowState state, KeyPlace place)
            throws SQLException {
        if (!lock(connection, seq, state)) {
            return Cancellation.IN_DELIVERY;
        }
        boolean cancelled = state == RowState.BLOCKED
                ? isHeadWaiting(connection, place) && cancel(connection, CANCEL, seq, state) == 1
                : cancel(connection, CANCEL_WAITING, seq, state) == 1;
        return cancelled ? Cancellation.CANCELLED : Cancellation.MAY_BE_IN_DELIVERY;
    }

    /** Cancels a message of a lane without an owner, in any state in which it waits. The caller has locked the lane. */
    public Cancellation cancelUnread(Connection connection, long seq, RowState state) throws SQLException {
        if (!lock(connection, seq, state)) {
            return Cancellation.IN_DELIVERY;
        }
        SqlRunner.expect(1, cancel(connection, CANCEL, seq, state), "cancel a message");
        return Cancellation.CANCELLED;
    }

    private boolean lock(Connection connection, long seq, RowState state) throws SQLException {
        return sql.query(connection, LOCK, binder -> binder.number(seq).text(state.name()), ResultSet::next);
    }

    /** Reads the time after the row was locked: the statement begins when the lock is there. */
    private int cancel(Connection connection, String statement, long seq, RowState state) throws SQLException {
        return sql.update(
                connection, withTime(statement), binder -> binder.number(seq).text(state.name()));
    }

    private String withTime(String statement) {
        return timeStandsStill ? statement.replace("> {now}", "> " + H2_NOW) : statement;
    }

    /**
     * Whether the head of the key waits for its next attempt, or is parked. An older snapshot could show an earlier head, so with one the
     * answer is no.
     */
    private boolean isHeadWaiting(Connection connection, KeyPlace place) throws SQLException {
        if (connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED) {
            return false;
        }
        Optional<LockedHead> head = head(connection, place);
        return head.isPresent()
                && head.get().state() != RowState.BLOCKED
                && head.get().later();
    }

    private Optional<LockedHead> head(Connection connection, KeyPlace place) throws SQLException {
        String tenant = place.key().tenant();
        return sql.query(
                connection,
                withTime(HEAD).replace("{tenant}", tenant == null ? "tenant IS NULL" : "tenant = ?"),
                binder -> {
                    binder.integer(place.topicId())
                            .integer(place.lane())
                            .text(place.key().key());
                    if (tenant != null) {
                        binder.text(tenant);
                    }
                },
                row -> row.next()
                        ? Optional.of(new LockedHead(row.getLong("seq"), RowState.read(row), row.getBoolean("later")))
                        : Optional.empty());
    }

    /**
     * Makes the next message the head of its key, due now. If another transaction has locked it, or joins it to the key at this moment, a
     * full scan of the lane does so within a minute.
     */
    private void promoteNext(Connection connection, KeyPlace place) throws SQLException {
        Optional<LockedHead> next = head(connection, place);
        if (next.isPresent()
                && next.get().state() == RowState.BLOCKED
                && lock(connection, next.get().seq(), RowState.BLOCKED)) {
            sql.update(connection, PROMOTE, binder -> binder.number(next.get().seq()));
        }
    }
}
