package dev.postrider.jdbc;

import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.message.Message;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of the simulated message table. Changed only as a copy that is not yet in the table. */
final class Row {

    final long seq;
    final Message message;
    final int topicId;
    final @Nullable Integer lane;
    RowState state;
    int attempts;
    int crashes;
    long availableAt;
    long lockedUntil;
    long updatedAt;

    @Nullable
    UUID token;

    @Nullable
    String reason;

    Row(long seq, Message message, int topicId, @Nullable Integer lane, RowState state, long availableAt) {
        this.seq = seq;
        this.message = message;
        this.topicId = topicId;
        this.lane = lane;
        this.state = state;
        this.availableAt = availableAt;
    }

    Row copy() {
        Row copy = new Row(seq, message, topicId, lane, state, availableAt);
        copy.attempts = attempts;
        copy.crashes = crashes;
        copy.lockedUntil = lockedUntil;
        copy.updatedAt = updatedAt;
        copy.token = token;
        copy.reason = reason;
        return copy;
    }

    UUID id() {
        return message.id().value();
    }

    boolean isIn(int topic, int number) {
        return topicId == topic && lane != null && lane == number;
    }

    /** In a blocked key: outside the order, the lowest of them its head. */
    boolean isWaiting() {
        return state == RowState.RETRY || state == RowState.BLOCKED || state == RowState.PARKED;
    }

    boolean isTimed() {
        return state == RowState.RETRY || state == RowState.SCHEDULED;
    }

    boolean isOfKey(Row other) {
        return topicId == other.topicId && OrderingKey.of(message).equals(OrderingKey.of(other.message));
    }
}
