package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;

/** A part of the command is invalid. The command did not run, and nothing was written. */
public final class InvalidCommandException extends PostriderException {

    private static final long serialVersionUID = 1;

    private final String field;

    public InvalidCommandException(String field, String problem) {
        super("The command's " + field + " " + problem, null);
        this.field = field;
    }

    /** The invalid part. */
    public String field() {
        return field;
    }
}
