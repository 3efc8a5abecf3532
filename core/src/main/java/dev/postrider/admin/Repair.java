package dev.postrider.admin;

/** The result of an operator's action on a message, a blocked key or a topic. */
public enum Repair {
    /** The action was carried out and recorded. */
    DONE,
    /**
     * The message does not exist or was delivered; the key is not blocked, or its head is another message; or, for
     * {@link Admin#remove}, the topic is not registered. Nothing was changed.
     */
    NOT_FOUND,
    /** The message is not dead: it waits or is being delivered, and needs no repair. Nothing was changed. */
    NOT_DEAD,
    /**
     * The message, or the next message of its key, is being handled at this moment. Nothing was changed: call again.
     */
    BUSY,
    /** The topic has messages, or a live node delivers it. Nothing was changed. */
    IN_USE
}
