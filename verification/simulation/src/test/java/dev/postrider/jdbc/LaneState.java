package dev.postrider.jdbc;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of the simulated lane table. Changed only as a copy that is not yet in the table. */
final class LaneState {

    final int topicId;
    final int lane;

    @Nullable
    String owner;

    @Nullable
    UUID token;

    long until;
    long floor;
    int buffer;
    int revision;

    @Nullable
    Long isolated;

    LaneState(int topicId, int lane) {
        this.topicId = topicId;
        this.lane = lane;
    }

    LaneState copy() {
        LaneState copy = new LaneState(topicId, lane);
        copy.owner = owner;
        copy.token = token;
        copy.until = until;
        copy.floor = floor;
        copy.buffer = buffer;
        copy.revision = revision;
        copy.isolated = isolated;
        return copy;
    }
}
