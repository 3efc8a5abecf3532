package dev.postrider.error;

/**
 * The database cannot be reached, is starting up or shutting down, has no connection to give, or became read-only. The
 * statement may or may not have taken effect. A dispatcher waits and tries again; no delivery attempt is counted.
 */
public final class StoreUnavailableException extends StoreException {

    public StoreUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
