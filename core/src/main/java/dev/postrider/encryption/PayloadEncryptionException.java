package dev.postrider.encryption;

import dev.postrider.error.PostriderException;
import org.jspecify.annotations.Nullable;

/**
 * The cipher of a topic could not encrypt a payload. The message was not written. The message of the exception is shown to operators and
 * logged, so a cipher that throws it must not put secrets there. Of any other exception of a cipher only the class is named.
 */
public final class PayloadEncryptionException extends PostriderException {

    public PayloadEncryptionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
