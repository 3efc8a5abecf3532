package dev.postrider.store;

/** The reason why a message is dead or parked. The names are stored in the database and do not change. */
public enum DeadReason {
    /** Every allowed attempt failed. */
    ATTEMPTS_EXHAUSTED,
    /** The destination or the handler reported a permanent failure. */
    REJECTED,
    /** The node was lost during the last allowed attempt. */
    WORKER_LOST,
    /** An attempt failed on a topic that parks instead of retrying. */
    FAILED,
    /** An operator buried the message so that its key continues. */
    BURIED,
    /** An operator parked the head of a blocked key. */
    PARKED,
    /** A consumer received the message and had no handler for its type. */
    NO_HANDLER,
    /** A consumer received the message with the id of another message. */
    COLLISION,
    /** A consumer received the message with an id older than the kept marks, so a duplicate cannot be detected. */
    TOO_OLD,
    /** The handler was retired before it handled the message. */
    HANDLER_RETIRED,
    /** The message was not delivered before its {@code expiresAt}. It is not replayed. */
    EXPIRED,
    /** The application or an operator cancelled the message before it was delivered. It is not replayed. */
    CANCELLED,
    /** The node cannot read the row as a message: it is not valid, or this node cannot decompress or decrypt its payload. */
    UNREADABLE
}
