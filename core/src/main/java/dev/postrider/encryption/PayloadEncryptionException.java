package dev.postrider.encryption;

import dev.postrider.error.PostriderException;
import org.jspecify.annotations.Nullable;

/** The cipher of a topic could not encrypt a payload. The message was not written. The cause is what the cipher threw, if it threw. */
public final class PayloadEncryptionException extends PostriderException {

    public PayloadEncryptionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
