package dev.postrider.encryption;

import dev.postrider.error.PostriderException;
import org.jspecify.annotations.Nullable;

/**
 * The cipher of a topic cannot work at the moment, for example because its key management service cannot be reached. A message that is to
 * be written is not written: run the transaction again later. A message that is to be delivered waits, and no attempt is counted. The
 * messages of the exception and of its causes are shown to operators and logged, so they must not contain secrets.
 */
public final class CipherUnavailableException extends PostriderException {

    public CipherUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
