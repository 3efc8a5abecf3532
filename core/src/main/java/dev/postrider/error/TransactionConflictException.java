package dev.postrider.error;

/**
 * The database chose this transaction to give way to another (serialization failure, deadlock, lock wait timeout). It can
 * no longer be committed: roll back and run the whole transaction again.
 */
public final class TransactionConflictException extends PostriderException {

    public TransactionConflictException(Throwable cause) {
        super(
                "The transaction lost against a concurrent one and is rolled back: run the whole transaction again"
                        + " (" + cause.getMessage() + ")",
                cause);
    }
}
