package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import org.jspecify.annotations.Nullable;

/** Thrown by the work of a command to reject it. Every retry gets the same rejection. */
public final class CommandRejectedException extends PostriderException {

    private static final long serialVersionUID = 1;

    private final transient @Nullable Object result;

    public CommandRejectedException(String reason) {
        this(reason, null);
    }

    /** @param result the value that retries get besides the reason; it has the result type of the command */
    public CommandRejectedException(String reason, @Nullable Object result) {
        super(reason, null);
        this.result = result;
    }

    public @Nullable Object result() {
        return result;
    }
}
