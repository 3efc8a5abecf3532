package dev.postrider.dispatch;

/** Delivers the messages of one topic to their destination, and decides the outcome of each. Thread-safe. */
interface TopicDelivery {

    /**
     * Delivers the message. It gets an outcome, whatever happens. If this method throws, the pipeline releases the
     * message.
     */
    void deliver(InFlightMessage claimed);

    /** Gives up a message whose result is overdue. */
    void giveUp(InFlightMessage claimed);

    /** Begins no further deliveries: waiting messages are released, and running deliveries continue. */
    void drain();

    /** Like {@link #drain}. In addition, running deliveries must not take effect in the database any more. */
    void close();
}
