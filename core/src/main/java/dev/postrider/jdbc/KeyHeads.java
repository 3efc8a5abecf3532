package dev.postrider.jdbc;

import dev.postrider.internal.store.OrderingKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The statements for keys whose head was removed by the transaction of its handler, which locks no lane. */
interface KeyHeads {

    /**
     * The state of a key after its head was removed.
     *
     * @param keyBlocked whether messages of the key are waiting
     * @param lockedHead the next message, if it should have become the head and another session has locked it; null otherwise
     */
    record Promotion(boolean keyBlocked, @Nullable Long lockedHead) {}

    /**
     * Makes the next message of the key its head, unless another session has locked the row. Runs in a transaction. It locks the lane, so
     * that a message that was about to join the key has joined it. It is correct whichever node owns the lane.
     *
     * @return empty if another session has locked the lane: then nothing was changed
     */
    Optional<Promotion> promoteNext(Connection connection, int topicId, int lane, OrderingKey key) throws SQLException;

    /**
     * A key with retrying, blocked or parked messages.
     *
     * @param headless whether its first message is blocked, because the head is gone and no message was promoted yet
     */
    record WaitingKey(int lane, OrderingKey key, boolean headless) {}

    /**
     * Returns all keys of the lanes with retrying, blocked or parked messages, in one snapshot. A key without a head is blocked too: a message
     * that is written now must not overtake its waiting messages.
     */
    List<WaitingKey> waitingKeys(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException;

    /** Returns the lanes that have keys without a head: a node may be lost between removing a head and promoting. Locks nothing. */
    Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException;

    /**
     * As {@link #promoteNext}, for all keys of a lane. Returns the messages whose rows another session has locked; empty if another
     * session has locked the lane.
     */
    Optional<Set<Long>> promoteMissingHeads(Connection connection, int topicId, int lane) throws SQLException;
}
