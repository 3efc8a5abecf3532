package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;

/** A command that cannot be run as it is. Nothing was written. */
public final class InvalidCommandException extends PostriderException {

    private static final long serialVersionUID = 1;

    private final String field;

    public InvalidCommandException(String field, String problem) {
        super("The command's " + field + " " + problem, null);
        this.field = field;
    }

    /** Which part of it. */
    public String field() {
        return field;
    }
}
