package dev.postrider.jdbc;

import dev.postrider.internal.Json;
import dev.postrider.message.DeterministicKey;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * A received message on its way through a topic of the inbox's own. There it has another id and another topic; what it was when it
 * came in travels in a header that nobody else can set, and is put back before a handler sees it. Pure functions.
 */
final class Origin {

    private static final String ID = "id";
    private static final String TOPIC = "topic";
    private static final String IDEMPOTENCY_KEY = "idempotency-key";
    private static final String WITHOUT_KEY = "without-key";

    private Origin() {}

    /** The id that a message has in a queue: the same however often it is put there. */
    static MessageId idIn(TopicName queue, Message received, MessageId identity) {
        return new MessageId(
                DeterministicKey.of(received.tenant(), "inbox", queue.toString(), identity.toString(), "1"));
    }

    /** As a dead letter of the consumer's own topic. The id depends on id and payload: a redelivery makes no second dead letter. */
    static Message kept(Message received, TopicName own) {
        String payloadHash = HexFormat.of().formatHex(InboxMark.of(received).payloadHash);
        MessageId id = new MessageId(DeterministicKey.of(
                received.tenant(), "inbox", own.toString(), received.id().toString(), payloadHash));
        return queued(received, own, id, false);
    }

    /** @param ordered whether the queue wants a key: a message without one is alone in its key */
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
                received.deliverAt());
    }

    /** What it was when it came in; a message of any other topic as it is. */
    static Message original(Message queued) {
        String header = queued.topic().isOfInbox() ? queued.headers().get(Message.ORIGIN_HEADER) : null;
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
                queued.deliverAt());
    }
}
