package dev.postrider.dispatch;

/** Takes messages of one topic to their destination, and decides what came of each. Thread-safe. */
interface Courier {

    /** Takes the message over: it will have an outcome, whatever happens. Anything thrown has failed it. */
    void carry(Held held);

    /** The message should have been done with by now. */
    void giveUp(Held held);

    /** From now on nothing is begun, and what is under way must not take effect in the database any more. */
    void close();
}
