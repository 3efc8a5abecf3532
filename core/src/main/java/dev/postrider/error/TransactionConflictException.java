package dev.postrider.error;

/**
 * The database aborted this transaction because of a concurrent one: serialization failure, deadlock or lock wait
 * timeout. The transaction can no longer be committed. Roll back and run the whole transaction again.
 */
public final class TransactionConflictException extends PostriderException {

    public TransactionConflictException(Throwable cause) {
        super(
                "The transaction conflicted with a concurrent one and is rolled back: run the whole transaction again"
                        + " (" + cause.getMessage() + ")",
                cause);
    }
}
