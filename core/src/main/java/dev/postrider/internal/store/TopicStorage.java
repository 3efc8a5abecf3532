package dev.postrider.internal.store;

import dev.postrider.encryption.PayloadCipher;
import dev.postrider.store.TableOptions;
import org.jspecify.annotations.Nullable;

/**
 * How this node stores the messages of one topic. Other nodes may declare it differently. Immutable.
 *
 * @param archive which part of a delivered message the archive keeps; null for the option of the tables
 * @param compressPayloadsAbove the size in bytes above which a payload is written compressed; 0 for never
 * @param cipher encrypts and decrypts the payloads; null for none, and for a handler of an inbox for that of its consumer
 */
public record TopicStorage(
        TableOptions.@Nullable Archive archive,
        int compressPayloadsAbove,
        @Nullable PayloadCipher cipher) {

    static final TopicStorage DEFAULT = new TopicStorage(null, 0, null);
}
