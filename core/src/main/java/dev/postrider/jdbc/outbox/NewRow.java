package dev.postrider.jdbc.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.encryption.PayloadCipher;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.Message;
import dev.postrider.message.Payload;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A message to insert, with the number of its topic, its lane on an ordered topic, and the mark of its idempotency key.
 *
 * @param packed the payload as it is stored; null if it is stored as it is
 */
public record NewRow(
        Message message,
        int topicId,
        @Nullable Integer lane,
        @Nullable Mark mark,
        @Nullable PackedPayload packed) {

    /** The content type of a row whose column {@code content_type} is null. */
    public static final String DEFAULT_CONTENT_TYPE = Payload.JSON;

    /** @param options whether the payload is stored compressed or encrypted */
    static NewRow of(Message message, Topics.RegisteredTopic topic, StorageOptions options) {
        PayloadCipher cipher = options.cipher(message.topic());
        return new NewRow(
                message,
                topic.id(),
                lane(message, topic),
                mark(message, topic, cipher),
                PackedPayload.of(message, options.compressPayloadsAbove(message.topic()), cipher));
    }

    private static @Nullable Mark mark(Message message, Topics.RegisteredTopic topic, @Nullable PayloadCipher cipher) {
        String key = message.idempotencyKey();
        if (key == null) {
            return null;
        }
        byte[] keyHash = keyHash(message.tenant(), key);
        return new Mark(topic.id(), keyHash, PayloadHash.ofKey(message, keyHash, cipher));
    }

    /** The hash by which the mark of an idempotency key is found. */
    static byte[] keyHash(@Nullable String tenant, String idempotencyKey) {
        MessageDigest sha256 = sha256();
        field(sha256, tenant);
        field(sha256, idempotencyKey);
        return sha256.digest();
    }

    private static @Nullable Integer lane(Message message, Topics.RegisteredTopic topic) {
        if (topic.lanes() == 0) {
            return null;
        }
        String key = message.key();
        if (key == null) {
            throw new InvalidMessageException(
                    "key",
                    "is missing: topic '" + message.topic() + "' is ordered, and every message needs an ordering key");
        }
        return LaneHash.of(message.tenant(), key, topic.lanes());
    }

    /** The approximate size of the row in a statement: payload and headers. */
    long bytes() {
        long bytes = payload().length;
        for (Map.Entry<String, String> header : message.headers().entrySet()) {
            bytes += header.getKey().length() + header.getValue().length();
        }
        return bytes;
    }

    public UUID id() {
        return message.id().value();
    }

    /** Returns the mark of a row that has an idempotency key. */
    Mark requireMark() {
        return Objects.requireNonNull(mark);
    }

    /** Binds the mark of the idempotency key: topic, key hash, message id and payload hash. */
    Binder bindMark(Binder binder) throws SQLException {
        Mark known = requireMark();
        return binder.integer(known.topicId).bytes(known.keyHash).uuid(id()).bytes(known.payloadHash);
    }

    /** Binds the columns of a new message in the order of every INSERT. */
    Binder bind(Binder binder) throws SQLException {
        return bindContent(binder.uuid(id()).integer(topicId));
    }

    /** Binds the columns after the id and the topic's number. */
    Binder bindContent(Binder binder) throws SQLException {
        return binder.text(message.topic().topic())
                .text(message.type())
                .text(message.tenant())
                .text(message.key())
                .text(message.idempotencyKey())
                .text(contentType())
                .bytes(payload())
                .text(attributes())
                .small(lane);
    }

    /** The content type as it is stored: null for the one that most messages have. */
    @Nullable
    String contentType() {
        String type = message.payload().contentType();
        return type.equals(DEFAULT_CONTENT_TYPE) ? null : type;
    }

    /** The payload as it is stored. */
    byte[] payload() {
        return packed == null ? message.payload().bytes() : packed.bytes();
    }

    @Nullable
    String attributes() {
        return MessageAttributes.write(message, packed);
    }

    boolean isScheduled() {
        return message.deliverAt() != null;
    }

    /** Adds a field with its length before it, so that different pairs of tenant and key differ. The length of no tenant is -1. */
    private static void field(MessageDigest digest, @Nullable String text) {
        byte[] bytes = text == null ? new byte[0] : text.getBytes(UTF_8);
        digest.update(
                ByteBuffer.allocate(4).putInt(text == null ? -1 : bytes.length).flip());
        digest.update(bytes);
    }

    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /** The primary key of a dedup row. It is comparable, so that every transaction inserts its marks in the same order. */
    public static final class Mark implements Comparable<Mark> {

        final int topicId;
        final byte[] keyHash;
        final byte[] payloadHash;
        private final @Nullable PayloadHash hash;

        /** A mark as it was read. */
        public Mark(int topicId, byte[] keyHash, byte[] payloadHash) {
            this(topicId, keyHash, payloadHash, null);
        }

        private Mark(int topicId, byte[] keyHash, PayloadHash hash) {
            this(topicId, keyHash, hash.stored(), hash);
        }

        private Mark(int topicId, byte[] keyHash, byte[] payloadHash, @Nullable PayloadHash hash) {
            this.topicId = topicId;
            this.keyHash = keyHash;
            this.payloadHash = payloadHash;
            this.hash = hash;
        }

        /** Whether the stored hash of a mark with the same key is of the payload of this one. */
        boolean hasPayload(byte[] found) {
            return hash == null ? Arrays.equals(payloadHash, found) : hash.matches(found);
        }

        public static Map<Integer, List<Mark>> byTopic(Collection<Mark> marks) {
            return marks.stream().collect(Collectors.groupingBy(mark -> mark.topicId));
        }

        /** Binds the number of the topic and a list of the key hashes of its marks. */
        public static void bindAll(Binder binder, Map.Entry<Integer, List<Mark>> topic) throws SQLException {
            binder.integer(topic.getKey());
            for (Mark mark : ValueList.padded(topic.getValue())) {
                binder.bytes(mark.keyHash);
            }
        }

        @Override
        public int compareTo(Mark other) {
            int byTopic = Integer.compare(topicId, other.topicId);
            return byTopic != 0 ? byTopic : Arrays.compareUnsigned(keyHash, other.keyHash);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Mark that && compareTo(that) == 0;
        }

        @Override
        public int hashCode() {
            return 31 * topicId + Arrays.hashCode(keyHash);
        }
    }
}
