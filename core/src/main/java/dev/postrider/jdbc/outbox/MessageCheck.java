package dev.postrider.jdbc.outbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.SQLException;

/** Checks a message before it is written, and finds the row that it makes. Thread-safe. */
final class MessageCheck {

    private final Topics topics;
    private final int maxPayloadBytes;

    MessageCheck(Topics topics, int maxPayloadBytes) {
        this.topics = topics;
        this.maxPayloadBytes = maxPayloadBytes;
    }

    Topics topics() {
        return topics;
    }

    NewRow checked(Connection connection, Message message) throws SQLException {
        int size = message.payload().size();
        if (size > maxPayloadBytes) {
            throw new InvalidMessageException(
                    "payload",
                    "has " + size + " bytes, at most " + maxPayloadBytes
                            + " are allowed: store it elsewhere and send a reference, or raise max-payload-bytes (up to 64 MiB)");
        }
        Topics.Topic topic = topics.require(connection, message.topic());
        String tenant = message.tenant();
        String key = message.idempotencyKey();
        if (topic.tenantPrefixedKeys() && tenant != null && key != null && !key.startsWith(tenant + "/")) {
            throw new InvalidMessageException(
                    "idempotency key", "must begin with '" + tenant + "/' on topic '" + message.topic() + "'");
        }
        return NewRow.of(message, topic);
    }
}
