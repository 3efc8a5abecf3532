package dev.postrider.checker;

/** The evidence is incomplete or has an unknown format, so that it cannot be judged. */
final class UnreadableEvidenceException extends RuntimeException {

    UnreadableEvidenceException(String message) {
        super(message);
    }

    UnreadableEvidenceException(String message, Throwable cause) {
        super(message, cause);
    }
}
