package dev.postrider.internal.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a command, as it is written into its row. Immutable.
 *
 * @param reason why the command was rejected; null for a success
 * @param resultTtl how long the result is kept
 * @param keyTtl how long the key is kept
 */
public record CommandOutcome(
        boolean rejected, StoredResult result, @Nullable String reason, Duration resultTtl, Duration keyTtl) {

    /** The kind of a stored result. */
    public enum ResultKind {
        /** The command has no result. */
        NONE,
        /** The whole result is stored in the row. */
        INLINE,
        /** Nothing is stored: the result was too large. */
        OMITTED,
        /** Nothing is stored any more: the retention of the result ended, or an operator completed the command. */
        DROPPED
    }

    /** The stored bytes of a result and the name of their codec. Immutable. */
    public static final class StoredResult {

        private final ResultKind kind;
        private final @Nullable String codec;
        private final byte @Nullable [] bytes;

        private StoredResult(ResultKind kind, @Nullable String codec, byte @Nullable [] bytes) {
            this.kind = kind;
            this.codec = codec;
            this.bytes = bytes;
        }

        /** Returns a stored result without bytes. */
        public static StoredResult without(ResultKind kind) {
            return new StoredResult(kind, null, null);
        }

        /** Returns a stored result with these bytes. The array is not copied and must not be changed. */
        public static StoredResult inline(String codec, byte[] bytes) {
            return new StoredResult(ResultKind.INLINE, codec, bytes);
        }

        /** Returns the kind of the stored result. */
        public ResultKind kind() {
            return kind;
        }

        /** Returns the name of the codec that reads the bytes; null without bytes. */
        public @Nullable String codec() {
            return codec;
        }

        /** Returns the bytes; null if there are none. The array is not a copy and must not be changed. */
        public byte @Nullable [] bytes() {
            return bytes;
        }
    }
}
