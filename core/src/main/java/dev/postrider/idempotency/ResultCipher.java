package dev.postrider.idempotency;

/** Encrypts results for the database. Implementations are thread-safe. */
public interface ResultCipher {

    /**
     * @param context identifies the row and its version; authenticate it together with the bytes, so that they are not
     *     valid in another row
     */
    byte[] encrypt(byte[] plain, byte[] context);

    /** @throws RuntimeException when the bytes were changed, moved to another row, or encrypted with an unknown key */
    byte[] decrypt(byte[] encrypted, byte[] context);
}
