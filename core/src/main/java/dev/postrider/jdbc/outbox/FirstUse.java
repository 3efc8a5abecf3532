package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** The message that used an idempotency key first. */
public record FirstUse(MessageId id, NewRow.Mark mark) {

    boolean samePayload(NewRow.Mark other) {
        return other.hasPayload(mark.payloadHash);
    }

    static Map<NewRow.Mark, FirstUse> read(ResultSet rows, SqlRunner sql) throws SQLException {
        Map<NewRow.Mark, FirstUse> first = new HashMap<>();
        while (rows.next()) {
            NewRow.Mark mark =
                    new NewRow.Mark(rows.getInt("topic_id"), rows.getBytes("key_hash"), rows.getBytes("payload_hash"));
            first.put(mark, new FirstUse(new MessageId(sql.readUuid(rows, "message_id")), mark));
        }
        return first;
    }
}
