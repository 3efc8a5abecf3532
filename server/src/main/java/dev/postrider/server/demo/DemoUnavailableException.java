package dev.postrider.server.demo;

import org.jspecify.annotations.Nullable;

/** Thrown when this computer cannot run the demo. The message says what is missing. */
public final class DemoUnavailableException extends RuntimeException {

    DemoUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
