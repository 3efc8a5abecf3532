package dev.postrider.jdbc;

import dev.postrider.jdbc.outbox.NewRow;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Purges on MySQL and MariaDB: each locks the old rows, and then deletes them by their key. In braces: table names, {@code {values}} for a
 * list of parameters, and {@code {delete message}} as in {@link DatabaseKind#spelled}.
 */
class InnoDbPurges implements PurgeStatements {

    private static final String PURGE_ARCHIVE = """
            DELETE FROM {archive} WHERE delivered_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
              AND delivered_at >= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND ORDER BY delivered_at, seq LIMIT ?
            """;

    static final String LOCK_OLD_DEAD =
            "SELECT seq FROM {message} WHERE state = 'DEAD' AND updated_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND LIMIT ? FOR UPDATE SKIP LOCKED";

    static final String PURGE_DEAD = "{delete message} WHERE state = 'DEAD' AND seq IN ({values})";

    static final String LOCK_OLD_KEYS = """
            SELECT topic_id, key_hash FROM {dedup} d
            WHERE seen_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND seen_at >= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
              AND NOT EXISTS (SELECT 1 FROM {message} m WHERE m.id = d.message_id)
            ORDER BY seen_at LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String PURGE_KEYS = "{delete dedup} WHERE topic_id = ? AND key_hash IN ({values})";

    final SqlRunner sql;

    InnoDbPurges(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        return purgeArchive(connection, PURGE_ARCHIVE, age, span, limit);
    }

    final int purgeArchive(Connection connection, String delete, Duration age, Duration span, int limit)
            throws SQLException {
        return sql.update(
                connection,
                delete,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit));
    }

    @Override
    public int purgeDead(Connection connection, Duration age, int limit) throws SQLException {
        Set<Long> old = sql.query(
                connection, LOCK_OLD_DEAD, binder -> binder.micros(age).integer(limit), SqlRunner::numbers);
        sql.change(connection, PURGE_DEAD, old, "purge dead letters", binder -> {});
        return old.size();
    }

    @Override
    public int purgeKeys(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        List<NewRow.Mark> old = sql.query(
                connection,
                LOCK_OLD_KEYS,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit),
                InnoDbPurges::marks);
        int removed = 0;
        for (Map.Entry<Integer, List<NewRow.Mark>> topic :
                NewRow.Mark.byTopic(old).entrySet()) {
            String delete = ValueList.in(PURGE_KEYS, topic.getValue().size());
            removed += sql.update(connection, delete, binder -> NewRow.Mark.bindAll(binder, topic));
        }
        return removed;
    }

    private static List<NewRow.Mark> marks(ResultSet rows) throws SQLException {
        List<NewRow.Mark> marks = new ArrayList<>();
        while (rows.next()) {
            marks.add(new NewRow.Mark(rows.getInt("topic_id"), rows.getBytes("key_hash"), new byte[0]));
        }
        return marks;
    }
}
