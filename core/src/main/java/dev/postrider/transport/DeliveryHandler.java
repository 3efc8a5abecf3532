package dev.postrider.transport;

/**
 * Delivers messages by running code of the application. The implementation must be thread-safe: many threads call it
 * at the same time.
 */
@FunctionalInterface
public interface DeliveryHandler {

    /**
     * Delivers one message. A normal return means delivered.
     *
     * @throws Exception any exception means failed, and the message is retried. {@link PermanentFailureException},
     *     and exceptions that the topic declares as permanent, make the message a dead letter.
     *     {@link RetryLaterException} sets the delay
     */
    void handle(Delivery delivery) throws Exception;
}
