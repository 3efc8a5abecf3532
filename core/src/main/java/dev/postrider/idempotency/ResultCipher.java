package dev.postrider.idempotency;

/** Keeps results unreadable in the database. Implementations are thread-safe. */
public interface ResultCipher {

    /**
     * @param context the identity of the row and of this version of it, to be authenticated with the bytes, so that they mean nothing elsewhere
     */
    byte[] encrypt(byte[] plain, byte[] context);

    /** @throws RuntimeException when the bytes were changed, moved to another row, or encrypted under an unknown key */
    byte[] decrypt(byte[] encrypted, byte[] context);
}
