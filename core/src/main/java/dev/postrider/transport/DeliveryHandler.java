package dev.postrider.transport;

/**
 * Delivers by running code of the application's own. Called from many threads at once. Returning means delivered; throwing
 * means failed and to be tried again, except {@link PermanentFailureException}, and what the topic declares permanent.
 */
@FunctionalInterface
public interface DeliveryHandler {

    void handle(Delivery delivery) throws Exception;
}
