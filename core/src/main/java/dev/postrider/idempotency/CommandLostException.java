package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import java.util.UUID;

/**
 * Another owner took the command over, because this owner did not renew its lease in time. The transaction of this
 * owner, if it has one, is rolled back.
 */
public final class CommandLostException extends PostriderException {

    private static final long serialVersionUID = 1;

    public CommandLostException(UUID reference) {
        super("The command " + reference + " was taken over by another owner: retry to get its result", null);
    }
}
