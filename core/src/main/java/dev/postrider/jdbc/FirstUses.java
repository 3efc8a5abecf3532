package dev.postrider.jdbc;

import dev.postrider.message.MessageId;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** Reads dedup rows back. */
final class FirstUses {

    private FirstUses() {}

    static Map<NewRow.Mark, FirstUse> read(PreparedStatement query, Dialect dialect) throws SQLException {
        Map<NewRow.Mark, FirstUse> found = new HashMap<>();
        try (ResultSet row = query.executeQuery()) {
            while (row.next()) {
                NewRow.Mark mark =
                        new NewRow.Mark(row.getInt("topic_id"), row.getBytes("key_hash"), row.getBytes("payload_hash"));
                found.put(mark, new FirstUse(new MessageId(dialect.readUuid(row, "message_id")), mark));
            }
        }
        return found;
    }
}
