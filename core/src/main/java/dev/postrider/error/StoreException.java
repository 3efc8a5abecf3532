package dev.postrider.error;

import org.jspecify.annotations.Nullable;

/** The database rejected a statement. The cause is the error of the database. */
public class StoreException extends PostriderException {

    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
