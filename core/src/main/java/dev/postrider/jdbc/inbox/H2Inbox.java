package dev.postrider.jdbc.inbox;

import dev.postrider.jdbc.sql.GuardedConnection;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** The inbox on H2, with {@code MERGE} for marks. */
final class H2Inbox extends InnoDbInbox {

    private static final String MERGE = """
            MERGE INTO {inbox_mark} m
            USING (SELECT CAST(? AS UUID) AS message_id, CAST(? AS VARCHAR(100)) AS consumer, CAST(? AS VARCHAR(255)) AS tenant,
                          CAST(? AS VARBINARY(32)) AS payload_hash) s
            ON m.message_id = s.message_id AND m.consumer = s.consumer AND m.tenant = s.tenant
            WHEN NOT MATCHED THEN INSERT (message_id, consumer, tenant, payload_hash, seen_at)
                VALUES (s.message_id, s.consumer, s.tenant, s.payload_hash, {now})
            """;

    H2Inbox(SqlRunner sql) {
        super(sql);
    }

    @Override
    int insertMarks(Connection connection, String consumer, List<InboxMark> marks) throws SQLException {
        int inserted = 0;
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(sql.sql(MERGE))) {
            for (InboxMark mark : marks) {
                mark.bind(sql.bind(statement), consumer);
                inserted += statement.executeUpdate();
            }
        }
        return inserted;
    }
}
