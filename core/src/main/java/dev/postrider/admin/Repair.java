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
    /**
     * The message is in a state that the action does not change, or in another one than the operator expected: for
     * example, it is being delivered, it is not the head of its key, or it was delivered and redelivered before. Nothing was changed.
     */
    WRONG_STATE,
    /**
     * The message, or the next message of its key, is being handled at this moment. For {@link Action#CANCEL}: the message
     * is being delivered, or its node may have read it for that. Nothing was changed: call again.
     */
    BUSY,
    /** The archive keeps no payload of the delivered message, so it cannot be delivered again. Nothing was changed. */
    NO_PAYLOAD,
    /** The topic has messages, or a live node delivers it. Nothing was changed. */
    IN_USE
}
