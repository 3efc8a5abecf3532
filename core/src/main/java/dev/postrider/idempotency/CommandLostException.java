package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import java.util.UUID;

/** Another owner has taken the command over, because this one did not keep up its lease: whatever it did in its transaction is rolled back. */
public final class CommandLostException extends PostriderException {

    private static final long serialVersionUID = 1;

    public CommandLostException(UUID reference) {
        super("The command " + reference + " was taken over by another owner: ask again for its result", null);
    }
}
