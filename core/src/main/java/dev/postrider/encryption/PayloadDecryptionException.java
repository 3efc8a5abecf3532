package dev.postrider.encryption;

import dev.postrider.error.PostriderException;
import org.jspecify.annotations.Nullable;

/**
 * A payload cannot be decrypted, and a retry cannot change that: it was changed, moved from another row, or encrypted with an unknown key.
 * The message of the exception is shown to operators and logged, so it must not contain secrets.
 */
public final class PayloadDecryptionException extends PostriderException {

    public PayloadDecryptionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
