package dev.postrider.jdbc;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.jdbc.outbox.SealedPayload;
import dev.postrider.message.Message;
import dev.postrider.message.Payload;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A message as it was read. An encrypted payload is not decrypted yet: a cipher is code of the application, and must not run while a
 * connection is in use. Immutable.
 *
 * @param message the message; with an empty payload if that is encrypted
 * @param sealed the encrypted payload; null for a clear one
 * @param withPayload makes the message with this payload
 */
record ReadMessage(Message message, @Nullable SealedPayload sealed, Function<Payload, Message> withPayload) {

    /**
     * Returns the message with its payload.
     *
     * @param cipher the cipher of its topic; null if this node declares none
     * @throws IllegalArgumentException if the payload cannot be decrypted
     * @throws CipherUnavailableException if it cannot be decrypted now
     */
    Message open(@Nullable PayloadCipher cipher, int maxPayloadBytes) {
        return sealed == null
                ? message
                : withPayload.apply(Payload.of(
                        sealed.open(cipher, maxPayloadBytes), message.payload().contentType()));
    }
}
