package dev.postrider.torture;

import dev.postrider.message.Message;
import java.time.Instant;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A message that is going to be written. Immutable.
 *
 * @param dedup the idempotency key; null for none
 * @param deliverAt the delivery time; null for immediate delivery
 * @param type selects what the receiver or the handler does with the message
 */
record Draft(
        String topic,
        String tenant,
        String key,
        @Nullable String dedup,
        @Nullable Instant deliverAt,
        String type,
        int size) {

    boolean ordered() {
        return Business.isOrdered(topic);
    }

    /** The name of the counter row that gives the number of the message. */
    String counter() {
        return tenant + "/" + key;
    }

    /** @param number the position in the key; empty on an unordered topic */
    Message message(String number, Random random) {
        byte[] payload = new byte[size];
        random.nextBytes(payload);
        return Message.to(topic)
                .type(type)
                .tenant(tenant)
                .key(key)
                .idempotencyKey(dedup)
                .deliverAt(deliverAt)
                .header(Business.NUMBER_HEADER, number)
                .header("torture-note", Integer.toString(random.nextInt(), 36))
                .bytes(payload, random.nextBoolean() ? "application/octet-stream" : "application/x-torture")
                .build();
    }
}
