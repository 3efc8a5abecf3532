package dev.postrider.error;

import org.jspecify.annotations.Nullable;

/** The database refused a statement. The cause holds its own error. */
public class StoreException extends PostriderException {

    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
