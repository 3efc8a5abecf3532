package dev.postrider.idempotency;

import dev.postrider.error.PostriderException;
import org.jspecify.annotations.Nullable;

/** Thrown by the work of a command: the answer is no, for every retry too. */
public final class CommandRejectedException extends PostriderException {

    private static final long serialVersionUID = 1;

    private final transient @Nullable Object result;

    public CommandRejectedException(String reason) {
        this(reason, null);
    }

    /** @param result what retries get besides the reason, of the type that the command returns */
    public CommandRejectedException(String reason, @Nullable Object result) {
        super(reason, null);
        this.result = result;
    }

    public @Nullable Object result() {
        return result;
    }
}
