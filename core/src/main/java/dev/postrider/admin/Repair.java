package dev.postrider.admin;

/** What came of an operator's action on one message. */
public enum Repair {
    DONE,
    /** There is no such message, or it was delivered; or no such key is held. */
    NOT_FOUND,
    /** The message is not dead: it is waiting or being delivered, and needs no repair. */
    NOT_DEAD,
    /** The message, or the one behind it in its key, is being handled at this moment. Nothing was changed: try again. */
    BUSY,
    /** The topic has messages, or a live node delivers it. Nothing was changed. */
    IN_USE
}
