package dev.postrider.checker;

/** The evidence is not what a run leaves: nothing can be said of it. */
final class UnreadableEvidenceException extends RuntimeException {

    UnreadableEvidenceException(String message) {
        super(message);
    }

    UnreadableEvidenceException(String message, Throwable cause) {
        super(message, cause);
    }
}
