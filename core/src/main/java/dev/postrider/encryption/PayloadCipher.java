package dev.postrider.encryption;

import java.util.List;

/**
 * Encrypts the payloads of a topic. {@link AesGcmPayloadCipher} is one with keys of the application; an application implements this
 * interface to use a key management service.
 *
 * <p>Implementations are thread-safe. {@link #encrypt} and {@link #hashes} run in the thread that writes a message, inside its
 * transaction. {@link #decrypt} runs in the threads that claim messages for all topics of the node, when no connection is in use. So no
 * method may wait for long: keys are fetched in advance and cached, and calls of a service have a timeout. The messages of the exceptions
 * of this package are shown to operators and logged. Of any other exception only the class is.
 */
public interface PayloadCipher {

    /**
     * Encrypts a payload with the newest key.
     *
     * @param payload the payload as it would be stored, perhaps compressed; not to be changed
     * @param context the row; authenticate {@link PayloadContext#authenticated()} together with the payload, so that the bytes are not
     *     valid in another row
     * @throws RuntimeException if the payload cannot be encrypted. The message is then not written
     */
    EncryptedPayload encrypt(byte[] payload, PayloadContext context);

    /**
     * Decrypts a payload with the key that encrypted it.
     *
     * @throws CipherUnavailableException if the cipher may be able to do it later. The message waits, and no attempt is counted
     * @throws PayloadDecryptionException if the bytes were changed, moved to another row, or encrypted with an unknown key. The message
     *     becomes a dead letter with the text of the exception. After any other exception it becomes one too
     */
    byte[] decrypt(EncryptedPayload encrypted, PayloadContext context);

    /**
     * Returns keyed hashes of a clear payload, of 32 bytes each: the first for storing, and one for each earlier hash key that may have
     * been used. By them Postrider recognises that a duplicate has the same payload, without having the clear text. A hash without a
     * secret key would let a reader of the database guess payloads.
     *
     * @param payload the clear payload, not compressed
     * @param mark identifies the mark that stores the hash, so that equal payloads of different marks have different hashes
     */
    List<byte[]> hashes(byte[] payload, byte[] mark);
}
