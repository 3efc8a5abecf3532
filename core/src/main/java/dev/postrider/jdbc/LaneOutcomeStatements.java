package dev.postrider.jdbc;

import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.store.Claim;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The statements that write the outcomes of lanes. Every change of a message is fenced: it locks the lane's row in share mode, and happens
 * only if the lane still has the token and the revision of the cursor.
 */
interface LaneOutcomeStatements {

    /**
     * The new state of a message that was not delivered.
     *
     * @param delay until the message is due; null for never
     * @param attempt its entry in the history of the message, of {@link AttemptHistory}
     */
    record Move(
            long seq,
            UUID id,
            RowState state,
            int attempts,
            @Nullable Duration delay,
            @Nullable String error,
            @Nullable String reason,
            @Nullable String fingerprint,
            String attempt) {}

    /**
     * What messages leave when they are moved, which determines the states that they are moved from. No operator puts a message back into
     * the order. So an outcome that is sent again cannot overwrite an operator's change, unless the message is in a blocked key.
     */
    enum Leaving {
        /** The messages leave the order, or are scheduled messages outside the order. */
        THE_ORDER,

        /** The messages leave their blocked key. The next message of the key becomes the head. */
        THEIR_KEY,

        /** The messages stay in their blocked key. */
        NOTHING;

        Set<RowState> states() {
            return this == THE_ORDER
                    ? Set.of(RowState.PENDING, RowState.SCHEDULED)
                    : Set.of(RowState.RETRY, RowState.BLOCKED);
        }
    }

    /**
     * The rows that a statement matched.
     *
     * @param all whether it matched every row, and no key is blocked; then the maps are empty
     * @param keyBlocked by number: whether the key of the row still has waiting rows
     * @param lockedHeads by number: the next row of the key, if it should have become the head and another session has locked it
     * @param transaction the id of the transaction; {@link Horizon#NO_TRANSACTION} where it has no meaning
     */
    record Written(boolean all, Map<Long, Boolean> keyBlocked, Map<Long, Long> lockedHeads, long transaction) {

        Written(Map<Long, Boolean> keyBlocked, Map<Long, Long> lockedHeads, long transaction) {
            this(false, keyBlocked, lockedHeads, transaction);
        }

        Written(Map<Long, Boolean> keyBlocked, long transaction) {
            this(keyBlocked, Map.of(), transaction);
        }

        static Written all(long transaction) {
            return new Written(true, Map.of(), Map.of(), transaction);
        }

        /** Whether the key of the row still has waiting rows; null if the statement did not match the row. */
        @Nullable
        Boolean keyBlocked(long seq) {
            return all ? Boolean.FALSE : keyBlocked.get(seq);
        }

        boolean isEmpty() {
            return !all && keyBlocked.isEmpty();
        }
    }

    /** Removes the rows of delivered messages. If they were waiting, the next message of each key becomes its head. */
    Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            List<Claim> delivered,
            boolean waiting,
            TableOptions.Archive archive)
            throws SQLException;

    /** Moves the rows of messages that were not delivered. */
    Written move(Connection connection, Collection<LaneCursor> fence, List<Move> rows, Leaving leaving)
            throws SQLException;

    /**
     * Blocks rows behind the head of their key. A row that has no other row of its key before it becomes the head. The rows of a key join
     * in the order of their numbers: the rows behind a locked row do not join.
     */
    Written block(Connection connection, Collection<LaneCursor> fence, List<Claim> claims) throws SQLException;

    /** Returns for each message the same small number as for the other messages of its ordering key. */
    static List<Integer> keyNumbers(List<Claim> claims) {
        Map<Map.Entry<UUID, OrderingKey>, Integer> keys = new HashMap<>();
        List<Integer> numbers = new ArrayList<>(claims.size());
        for (Claim claim : claims) {
            Map.Entry<UUID, OrderingKey> keyOfLane = Map.entry(claim.lease().token(), OrderingKey.of(claim.message()));
            Integer number = keys.get(keyOfLane);
            if (number == null) {
                number = keys.size();
                keys.put(keyOfLane, number);
            }
            numbers.add(number);
        }
        return numbers;
    }
}
