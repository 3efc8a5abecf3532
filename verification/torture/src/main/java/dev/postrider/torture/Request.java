package dev.postrider.torture;

import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A request of a worker to the receiver: all checkable fields of a message, with a hash instead of the payload. Immutable.
 *
 * @param number the position in the key; empty on an unordered topic
 */
record Request(
        String worker,
        String id,
        String topic,
        String type,
        String tenant,
        String key,
        String number,
        int attempt,
        String hash) {

    static Request of(String worker, Delivery delivery) {
        Message message = delivery.message();
        return new Request(
                worker,
                message.id().toString(),
                message.topic().toString(),
                message.type(),
                String.valueOf(message.tenant()),
                String.valueOf(message.key()),
                message.headers().getOrDefault(Business.NUMBER_HEADER, "missing"),
                delivery.attempt(),
                Digest.of(message));
    }

    static Request parse(String line) {
        List<String> fields = new ArrayList<>();
        for (String field : line.split("\t", -1)) {
            fields.add(URLDecoder.decode(field, StandardCharsets.UTF_8));
        }
        return new Request(
                fields.get(0),
                fields.get(1),
                fields.get(2),
                fields.get(3),
                fields.get(4),
                fields.get(5),
                fields.get(6),
                Integer.parseInt(fields.get(7)),
                fields.get(8));
    }

    /** One line, without the newline. */
    String toLine() {
        List<String> fields = new ArrayList<>();
        for (String field : List.of(worker, id, topic, type, tenant, key, number, Integer.toString(attempt), hash)) {
            fields.add(URLEncoder.encode(field, StandardCharsets.UTF_8));
        }
        return String.join("\t", fields);
    }
}
