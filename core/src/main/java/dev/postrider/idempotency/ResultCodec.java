package dev.postrider.idempotency;

import org.jspecify.annotations.Nullable;

/** Turns results into bytes and back. Implementations are thread-safe. */
public interface ResultCodec<R> {

    /** A logical name, stored with each result; never a class name, and never changed while results are kept. */
    String name();

    byte[] encode(R result);

    /** @throws RuntimeException when the bytes are not of this codec */
    R decode(byte[] bytes);

    /** What to keep of a result that is too large, or null to keep only that there was one. */
    default @Nullable R shortened(R result) {
        return null;
    }
}
