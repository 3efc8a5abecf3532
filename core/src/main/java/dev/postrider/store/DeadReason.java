package dev.postrider.store;

/** Why a message is dead. The names are stored and shown; they do not change. */
public enum DeadReason {
    /** Every allowed attempt failed. */
    ATTEMPTS_EXHAUSTED,
    /** The destination, or the handler, said that it will never work. */
    REJECTED,
    /** The last allowed attempt ended with the worker lost. */
    WORKER_LOST,
    /** An attempt failed, on a topic that parks its keys rather than retry. */
    FAILED,
    /** An operator let its key go on without it. */
    SKIPPED,
    /** It was received by a consumer that had no handler for its type. */
    NO_HANDLER,
    /** It was received under the id of another message. */
    COLLISION,
    /** It was received with an id older than the marks that are kept: whether it was handled before cannot be told. */
    TOO_OLD,
    /** Its handler was retired before it was handled. */
    HANDLER_RETIRED,
    /** The row does not make a message: it was written by hand or by other software and breaks a rule. */
    UNREADABLE
}
