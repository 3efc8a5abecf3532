package dev.postrider.torture.mutant;

/** A mutant that cannot be built: its file is unreadable, the source has changed, or the changed source does not compile. */
public final class BadMutantException extends RuntimeException {

    BadMutantException(String message) {
        super(message);
    }

    BadMutantException(String message, Throwable cause) {
        super(message, cause);
    }
}
