package dev.postrider.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a command ended, as it is written into its row. Immutable.
 *
 * @param reason why it was rejected; null for a success
 */
public record CommandOutcome(
        boolean rejected, StoredResult result, @Nullable String reason, Duration resultTtl, Duration keyTtl) {

    /** What is kept of a result. */
    public enum Kind {
        /** There is none. */
        NONE,
        /** All of it, in the row. */
        INLINE,
        /** Nothing: it was too large. */
        OMITTED,
        /** Nothing any more: its time is over, or an operator said that the command is done. */
        DROPPED
    }

    /** The bytes of a result and what reads them. Immutable. */
    public static final class StoredResult {

        private final Kind kind;
        private final @Nullable String codec;
        private final byte @Nullable [] bytes;

        private StoredResult(Kind kind, @Nullable String codec, byte @Nullable [] bytes) {
            this.kind = kind;
            this.codec = codec;
            this.bytes = bytes;
        }

        /** One without bytes. */
        public static StoredResult without(Kind kind) {
            return new StoredResult(kind, null, null);
        }

        /** The bytes are taken as they are, not copied: nobody may change them. */
        public static StoredResult inline(String codec, byte[] bytes) {
            return new StoredResult(Kind.INLINE, codec, bytes);
        }

        public Kind kind() {
            return kind;
        }

        public @Nullable String codec() {
            return codec;
        }

        /** Not to be changed. */
        public byte @Nullable [] bytes() {
            return bytes;
        }
    }
}
