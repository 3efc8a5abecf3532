package dev.postrider.error;

import org.jspecify.annotations.Nullable;

/** The base class of all exceptions of Postrider. All of them are unchecked and immutable. */
public abstract class PostriderException extends RuntimeException {

    protected PostriderException(String message) {
        super(message);
    }

    protected PostriderException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
