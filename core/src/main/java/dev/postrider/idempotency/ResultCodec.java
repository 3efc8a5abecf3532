package dev.postrider.idempotency;

import org.jspecify.annotations.Nullable;

/** Encodes results to bytes and decodes them. Implementations are thread-safe. */
public interface ResultCodec<R> {

    /**
     * A logical name that is stored with each result. It is not a class name, and it must not change while results are
     * stored.
     */
    String name();

    byte[] encode(R result);

    /** @throws RuntimeException when this codec cannot read the bytes */
    R decode(byte[] bytes);

    /**
     * A shorter replacement for a result that is too large to be stored; null to store only that there was a result. If
     * the replacement is too large as well, this method is called once more, with the replacement.
     */
    default @Nullable R shortened(R result) {
        return null;
    }
}
