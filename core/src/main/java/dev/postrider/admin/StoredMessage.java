package dev.postrider.admin;

import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message and its delivery state, as stored in the database. Immutable.
 *
 * <p>A row that other software wrote may be invalid. It is then shown as a substitute message of type
 * {@link #UNREADABLE_TYPE} with the id, the topic and the payload of the row. {@code lastError} says what is wrong
 * with the row.
 *
 * <p>The payload of an encrypted message is not shown. The message has a text in its place, with the id of the key and the
 * stored size, of the content type {@link #ENCRYPTED_CONTENT_TYPE}.
 *
 * @param seq the number of the row
 * @param receivedId in a topic of an inbox, the id that the sender gave the message. The row of each handler has its
 *     own id. Null in all other topics
 * @param attempts the number of delivery attempts
 * @param crashes the number of attempts that ended with the loss of the node
 * @param availableAt when the message is or was due; for a delivered message, when it was first due
 * @param deliveredAt when the message was delivered; null before that
 * @param worker the node that claimed the message; null when it is not being processed
 * @param reason why the message is dead or parked; null otherwise
 * @param fingerprint equal for errors that differ only in numbers and ids
 */
public record StoredMessage(
        long seq,
        Message message,
        @Nullable MessageId receivedId,
        State state,
        int attempts,
        int crashes,
        Instant availableAt,
        @Nullable Instant deliveredAt,
        @Nullable String worker,
        @Nullable String lastError,
        @Nullable String reason,
        @Nullable String fingerprint,
        Instant createdAt) {

    /** The type of the substitute message for an unreadable row. */
    public static final String UNREADABLE_TYPE = "postrider.unreadable";

    /** The content type of the text that is shown in place of an encrypted payload. */
    public static final String ENCRYPTED_CONTENT_TYPE = "application/vnd.postrider.encrypted";

    /** Returns whether the payload is encrypted and not shown. */
    public boolean isEncrypted() {
        return message.payload().contentType().equals(ENCRYPTED_CONTENT_TYPE);
    }

    /** The states of a message, in the words of operators. */
    public enum State {
        /** Is due and was never attempted. */
        PENDING,
        /** Has a delivery time in the future. On an ordered topic it is outside the order of its key. */
        SCHEDULED,
        /** Failed, and waits for its next attempt. On an ordered topic also the head of a blocked key. */
        RETRYING,
        /** A node has claimed it under a lease. */
        PROCESSING,
        /** On an ordered topic: waits behind the head of its key. */
        BLOCKED,
        /** On an ordered topic: is the head of its key and waits for an operator. */
        PARKED,
        DEAD,
        DELIVERED,
        /** Other software has written a state that does not exist. The message is not delivered, and a filter cannot ask for it. */
        UNKNOWN
    }
}
