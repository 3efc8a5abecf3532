package dev.postrider.admin;

/** The state of a background operation. */
public enum OperationState {
    /** No node has begun it yet. */
    WAITING,
    /** Nodes work it off in steps. */
    RUNNING,
    /** It reached the end of the selected messages, or its limit. */
    COMPLETED,
    /** An operator ended it. What it changed before stays changed. */
    CANCELLED,
    /** It failed too often, or no node can read its filter. What it changed before stays changed. */
    FAILED;

    /** Whether it changes nothing any more. */
    public boolean isEnded() {
        return this == COMPLETED || this == CANCELLED || this == FAILED;
    }
}
