package dev.postrider.idempotency;

/** Where threads wait until somebody opens it, which is for ever. Thread-safe. */
interface Gate {

    /** Never waits itself. */
    void open();

    /** Waits no longer than this; says whether it is open. */
    boolean await(long nanos) throws InterruptedException;
}
