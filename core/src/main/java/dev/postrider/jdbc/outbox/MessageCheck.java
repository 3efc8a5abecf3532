package dev.postrider.jdbc.outbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Checks a message before it is written, and finds the row that it makes. It adds the trace context of the writer. Thread-safe. */
final class MessageCheck {

    private final Topics topics;
    private final StorageOptions options;
    private final SafeTracing tracing;

    MessageCheck(Topics topics, StorageOptions options, SafeTracing tracing) {
        this.topics = topics;
        this.options = options;
        this.tracing = tracing;
    }

    MessageCheck tracedBy(SafeTracing tracer) {
        return new MessageCheck(topics, options, tracer);
    }

    Topics topics() {
        return topics;
    }

    SafeTracing tracing() {
        return tracing;
    }

    /** Returns a live message with its payload decrypted, to be compared with a new row of the same topic. */
    LiveMessage opened(LiveMessage live, NewRow row) {
        return live.opened(
                row, options.cipher(row.message().topic()), options.tables().maxPayloadBytes());
    }

    /** Returns the rows of the messages. Refuses all of them if one is not valid. */
    List<NewRow> checked(Connection connection, List<Message> messages) throws SQLException {
        List<NewRow> rows = new ArrayList<>(messages.size());
        for (Message message : tracing.traced(messages)) {
            rows.add(checked(connection, message));
        }
        return rows;
    }

    private NewRow checked(Connection connection, Message message) throws SQLException {
        int size = message.payload().size();
        int maxPayloadBytes = options.tables().maxPayloadBytes();
        if (size > maxPayloadBytes) {
            throw new InvalidMessageException(
                    "payload",
                    "has " + size + " bytes, at most " + maxPayloadBytes
                            + " are allowed: store it elsewhere and send a reference, or raise max-payload-bytes (up to 64 MiB)");
        }
        Topics.RegisteredTopic topic = topics.require(connection, message.topic());
        String tenant = message.tenant();
        String key = message.idempotencyKey();
        if (topic.tenantPrefixedKeys() && tenant != null && key != null && !key.startsWith(tenant + "/")) {
            throw new InvalidMessageException(
                    "idempotency key", "must begin with '" + tenant + "/' on topic '" + message.topic() + "'");
        }
        return NewRow.of(message, topic, options);
    }
}
