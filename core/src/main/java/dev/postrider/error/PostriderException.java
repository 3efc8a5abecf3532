package dev.postrider.error;

import org.jspecify.annotations.Nullable;

/** The root of everything Postrider throws. Immutable once thrown. */
public abstract class PostriderException extends RuntimeException {

    protected PostriderException(String message) {
        super(message);
    }

    protected PostriderException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
