package dev.postrider.error;

/**
 * The database cannot be reached, is starting or shutting down, has no free connection, or is read-only. The
 * statement may or may not have taken effect. A dispatcher waits and retries, and does not count a delivery attempt.
 */
public final class StoreUnavailableException extends StoreException {

    public StoreUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
