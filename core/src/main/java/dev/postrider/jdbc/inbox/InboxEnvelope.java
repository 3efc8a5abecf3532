package dev.postrider.jdbc.inbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.Json;
import dev.postrider.message.DeterministicKey;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Converts received messages for the topics of the inbox, and back. In such a topic a message has another id and another topic. A
 * header that applications cannot set carries the original values. They are restored before a handler gets the message. Pure functions.
 */
public final class InboxEnvelope {

    private static final String ID = "id";
    private static final String TOPIC = "topic";
    private static final String IDEMPOTENCY_KEY = "idempotency-key";
    private static final String WITHOUT_KEY = "without-key";

    private InboxEnvelope() {}

    /** The id of a message in a queue. It is the same however often the message is put there. */
    static MessageId idIn(TopicName queue, Message received, MessageId identity) {
        return new MessageId(
                DeterministicKey.of(received.tenant(), "inbox", queue.toString(), identity.toString(), "1"));
    }

    /**
     * Makes a dead letter of the consumer's own topic. Its id depends on the received id and the hash of the payload, so that a redelivery
     * makes no second dead letter.
     */
    static Message kept(Message received, TopicName own, byte[] hash) {
        String payloadHash = HexFormat.of().formatHex(hash);
        MessageId id = new MessageId(DeterministicKey.of(
                received.tenant(), "inbox", own.toString(), received.id().toString(), payloadHash));
        return queued(received, own, id, false);
    }

    /** @param ordered whether the queue needs an ordering key; a message without one gets a key of its own */
    static Message queued(Message received, TopicName queue, MessageId id, boolean ordered) {
        boolean keyless = ordered && received.key() == null;
        Map<String, String> origin = new HashMap<>();
        origin.put(ID, received.id().toString());
        origin.put(TOPIC, received.topic().toString());
        String idempotencyKey = received.idempotencyKey();
        if (idempotencyKey != null) {
            origin.put(IDEMPOTENCY_KEY, idempotencyKey);
        }
        if (keyless) {
            origin.put(WITHOUT_KEY, "true");
        }
        Map<String, String> headers = new HashMap<>(received.headers());
        headers.put(Message.ORIGIN_HEADER, Json.write(origin));
        return new Message(
                id,
                queue,
                received.type(),
                received.tenant(),
                keyless ? received.id().toString() : received.key(),
                null,
                received.payload(),
                headers,
                received.correlationId(),
                received.causationId(),
                received.trace(),
                received.occurredAt(),
                received.source(),
                received.subject(),
                received.deliverAt(),
                received.expiresAt());
    }

    private static @Nullable String header(Message queued) {
        return queued.topic().isOfInbox() ? queued.headers().get(Message.ORIGIN_HEADER) : null;
    }

    /** The id under which the message was received; null in any other topic, and in a row of other software without such an id. */
    public static @Nullable MessageId receivedId(Message queued) {
        String header = header(queued);
        if (header == null) {
            return null;
        }
        try {
            return MessageId.of(Json.readStrings(header).getOrDefault(ID, ""));
        } catch (InvalidMessageException | IllegalArgumentException e) {
            return null;
        }
    }

    /** Restores the message as it was received. Returns a message of any other topic unchanged. */
    public static Message original(Message queued) {
        String header = header(queued);
        if (header == null) {
            return queued;
        }
        Map<String, String> origin = Json.readStrings(header);
        Map<String, String> headers = new HashMap<>(queued.headers());
        headers.remove(Message.ORIGIN_HEADER);
        return new Message(
                MessageId.of(origin.getOrDefault(ID, "")),
                TopicName.of(origin.getOrDefault(TOPIC, "")),
                queued.type(),
                queued.tenant(),
                origin.containsKey(WITHOUT_KEY) ? null : queued.key(),
                origin.get(IDEMPOTENCY_KEY),
                queued.payload(),
                headers,
                queued.correlationId(),
                queued.causationId(),
                queued.trace(),
                queued.occurredAt(),
                queued.source(),
                queued.subject(),
                queued.deliverAt(),
                queued.expiresAt());
    }
}
