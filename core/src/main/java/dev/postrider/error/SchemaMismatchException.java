package dev.postrider.error;

/**
 * The tables in the database do not match this version of the library. The message names the command that fixes this.
 */
public final class SchemaMismatchException extends PostriderException {

    public SchemaMismatchException(String message) {
        super(message);
    }
}
