package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.GuardedConnection;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** Inserts on H2, with {@code MERGE} for marks. */
final class H2Inserts extends InnoDbInserts {

    private static final String MERGE_MARK = """
            MERGE INTO {dedup} d
            USING (SELECT CAST(? AS INT) AS topic_id, CAST(? AS VARBINARY(32)) AS key_hash, CAST(? AS UUID) AS message_id,
                          CAST(? AS VARBINARY(32)) AS payload_hash) s
            ON d.topic_id = s.topic_id AND d.key_hash = s.key_hash
            WHEN NOT MATCHED THEN INSERT (topic_id, key_hash, message_id, payload_hash, seen_at)
                VALUES (s.topic_id, s.key_hash, s.message_id, s.payload_hash, {now})
            """;

    H2Inserts(SqlRunner sql) {
        super(sql, false);
    }

    @Override
    int insertMarks(Connection connection, List<NewRow> rows) throws SQLException {
        int inserted = 0;
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(sql.sql(MERGE_MARK))) {
            for (NewRow row : rows) {
                row.bindMark(sql.bind(statement));
                inserted += statement.executeUpdate();
            }
        }
        return inserted;
    }
}
