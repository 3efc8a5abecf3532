package dev.postrider.error;

/** The tables in the database are not the ones this version works with. The message names the command that mends it. */
public final class SchemaMismatchException extends PostriderException {

    public SchemaMismatchException(String message) {
        super(message);
    }
}
