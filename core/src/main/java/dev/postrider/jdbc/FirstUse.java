package dev.postrider.jdbc;

import dev.postrider.message.MessageId;
import java.util.Arrays;

/** The message that used an idempotency key first. */
record FirstUse(MessageId id, NewRow.Mark mark) {

    boolean samePayload(NewRow.Mark other) {
        return Arrays.equals(mark.payloadHash, other.payloadHash);
    }
}
